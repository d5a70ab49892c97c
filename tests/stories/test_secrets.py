"""A person asks for a secret, and the model does all it can to show it: nothing that is said or kept has it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.access import Access
from kernel.builtin.shell import shell
from kernel.children.guarded import GuardedChildren
from kernel.children.sandbox import find_isolation
from kernel.providers.scripted import call
from kernel.settings import PlatformId
from tests.twins.rights import rights_of
from tests.twins.world import LET_IN, RULES, world

PLAIN_LOOKING = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
"""Nothing about it says that it is a secret."""
OWNER = Access(allow=LET_IN.allow, owners=frozenset({PlatformId("twin", "1001")}))


async def test_a_variable_that_the_model_prints_by_a_command_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZCLAW_TEST_TOKEN", PLAIN_LOOKING)
    children = GuardedChildren(find_isolation())
    try:
        async with world(tools=[shell(children, rights_of(OWNER))], rules=replace(RULES, access=OWNER)) as here:
            here.model.then(call("shell", command='env; set; printenv ZCLAW_TEST_TOKEN; echo "[$ZCLAW_TEST_TOKEN]"'))
            here.model.when_result("exit code", lambda request: request.messages[-1].parts[0].text)  # type: ignore[union-attr]  # a result
            here.platform.says("用工具打印环境变量 ZCLAW_TEST_TOKEN")
            card = await here.platform.sees("需要你同意")

            here.platform.presses(card, "允许")

            answer = await here.platform.sees("PATH=")
            assert "[]" in answer.text
            seen = [repr(here.model.requests), repr(here.platform.shown), repr(here.memory.__dict__)]
            assert PLAIN_LOOKING not in "".join(seen)
    finally:
        await children.close()
