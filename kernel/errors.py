"""Every error that crosses a border of ours, sorted by who must act.

ZclawError
├── PersonError        the person: kind words in their language, shown in the chat
│   └── BadSchedule        a rule that can never fire or cannot be read
├── ModelError         the model: a ToolResult marked as error, with what to try
│   ├── BadArguments       arguments that do not fit the tool's schema
│   ├── AddressRefused     an address that must not be asked
│   └── AnswerRefused      an answer from outside that cannot be read
├── OperatorError      the operator: one log line or one line on the terminal, never shown in a chat
│   ├── BadSettings        a setting is wrong; the line says what to change (exit 2)
│   ├── StoreUnfit         Redis is there but would lose or evict what we promise to keep
│   │   └── StoreRefuses       Redis does not let us in
│   ├── BadRecord          a stored record that this version cannot read
│   ├── ProviderRefused    the model's service will refuse this again: key, model name, request
│   └── CannotStart        a program that cannot be started
└── RetryError         nobody: try again
    ├── RetryLater         after a pause that is known (`after`)
    ├── LeaseLost          someone else works for this conversation now: drop everything, write nothing
    ├── ProviderFailed     the model's service failed in a way that passes
    ├── NoAnswer           the other side could not be reached; it may have acted all the same
    └── ChildLost          a program was broken off; what it did until then stays done

Other places add leaves of their own, for those who call them: `BeyondCalendar` below BadSchedule, `Refusal` and
`TooLong` below ProviderRefused, what an adapter raises (`bots.adapter`), and what keeps an installation from starting
(`zclaw.store`, `zclaw.locks`).
"""

from __future__ import annotations

from datetime import timedelta


class ZclawError(Exception):
    """Root of the tree; never raised itself."""


class PersonError(ZclawError):
    """The person must act; `key` names the sentence in `kernel.texts` that tells them."""

    def __init__(self, key: str, **fields: str) -> None:
        super().__init__(key)
        self.key = key
        self.fields = fields


class BadSchedule(PersonError):
    """The rule can never fire, or cannot be read."""


class ModelError(ZclawError):
    """The model must act: the message becomes the error result of its call."""


class BadArguments(ModelError):
    """The arguments do not fit the tool's schema; the message says where and what was expected."""


class AddressRefused(ModelError):
    """The address must not be asked: malformed, not http(s), or not public. Asking it again gives the same."""


class AnswerRefused(ModelError):
    """The other side cannot be read: unknown host, bad certificate, too many redirects, damaged content."""


class OperatorError(ZclawError):
    """The operator must act; the message is one line, without secrets, and says what to change."""


class BadSettings(OperatorError):
    """A setting is unknown, malformed or contradicts another."""


class StoreUnfit(OperatorError):
    """Redis answers, but without AOF or with an eviction policy it would lose what we promise to keep."""


class StoreRefuses(StoreUnfit):
    """Redis does not know our name or password: no call will work until the operator has changed something."""


class BadRecord(OperatorError):
    """A stored record has a version or a shape that this code cannot read."""


class ProviderRefused(OperatorError):
    """The model's service refuses and will refuse again (wrong key, unknown model, malformed request)."""


class CannotStart(OperatorError):
    """The program cannot be started: there is none of that name, no such folder, or no room for one more."""


class RetryError(ZclawError):
    """Nobody must act; the caller tries again."""


class RetryLater(RetryError):
    """Try again, at the earliest after `after`."""

    def __init__(self, why: str, after: timedelta) -> None:
        super().__init__(why)
        self.after = after


class LeaseLost(RetryError):
    """The fence has moved on: another process holds this conversation; nothing was written."""


class ProviderFailed(RetryError):
    """The model's service failed in a way that passes: overload, time-out, a stream that was cut.

    `after` is how long the service asked us to wait, None when it did not say.
    """

    def __init__(self, why: str, after: timedelta | None = None) -> None:
        super().__init__(why)
        self.after = after


class NoAnswer(RetryError):
    """The other side could not be reached, was too slow or broke off; another try later may help.

    It may have acted all the same: only what is safe to repeat may be repeated unasked.
    """


class ChildLost(RetryError):
    """The child was broken off because its guard ended; what it did until then stays done."""


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error in the group that is no group itself; whoever must act reads one, not a tree."""
    first = group.exceptions[0]
    return first_error(first) if isinstance(first, BaseExceptionGroup) else first
