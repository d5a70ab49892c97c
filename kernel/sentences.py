"""Every sentence a person sees, in Chinese and in English. Short, calm, concrete; no internals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kernel.sentences_of_commands import OF_COMMANDS

SENTENCES: Final[Mapping[str, tuple[str, str]]] = {
    **OF_COMMANDS,
    # key: (Chinese, English)
    # Ids that people are shown: a name anybody can take, and ZCLAW_ALLOW wants them.
    "stranger": (
        "你好！我只为允许的人服务。想用的话，请把这一行交给我的主人：{id}",
        "Hello! I only work for people who were let in. To join them, give this line to my owner: {id}",
    ),
    "stranger.unowned": (
        "你好！我还没有主人。如果是你装的我，请在私聊里把 zclaw up 打印的码发给我；zclaw pair 再打印一个。"
        "如果不是，请把这一行交给装我的人：{id}",
        "Hello! I have no owner yet. If you set me up, send me the code that zclaw up printed, in a private chat; "
        "zclaw pair prints another. If not, give this line to whoever did: {id}",
    ),
    "stranger.asked": (
        "你好！我只为允许的人服务。已经问过我的主人了，同意后我会告诉你。",
        "Hello! I only work for people who were let in. My owner has been asked; I will tell you once they agree.",
    ),
    "pair.done": (
        "好了，你现在是我的主人。有陌生人想和我说话，我会先问你。/help 看看我会什么。",
        "Done, you own me now. When strangers want to talk to me, I ask you first. /help shows what I can do.",
    ),
    "pair.wrong": (
        "这个码不对，或者已经失效。请再看一眼，或者用 zclaw pair 打印一个新的。",
        "That code is wrong or no longer good. Please check it, or let zclaw pair print a new one.",
    ),
    "pair.code": (
        "10 分钟内，用你的另一个账号把这个码发给我，那个账号也会是我的主人：{code}",
        "Send me this code from your other account within 10 minutes, and it owns me too: {code}",
    ),
    "pair.private": ("这个命令请在私聊里用。", "Please use this command in a private chat."),
    "rights.owner": ("这要由我的主人来决定。", "My owner decides this."),
    "rights.allowed": (
        "在这里，这要由我的主人单独允许过的人来做。",
        "Here, only people whom my owner let in personally can do this.",
    ),
    "rights.listed": (
        "这里只认设置里的名单，在聊天里改不了。",
        "Only the lists in the settings count here; they cannot be changed in a chat.",
    ),
    "admit.person": ("{who} 想和我说话。", "{who} wants to talk to me."),
    "admit.in_chat": ("{who} 想在「{where}」里用我。", "{who} wants to use me in “{where}”."),
    "admit.joined": (
        "{who} 把我加进了「{where}」。要开放给那里的所有人吗？",
        "{who} added me to “{where}”. Shall everybody there be able to use me?",
    ),
    "admit.allow": ("允许此人", "Allow"),
    "admit.open": ("开放这个群", "Open the group"),
    "admit.allowed": ("✅ {who} 可以用我了", "✅ {who} can use me now"),
    "admit.opened": ("✅「{where}」里的人可以用我了", "✅ people in “{where}” can use me now"),
    "admit.denied": ("🚫 没有允许 {who}", "🚫 {who} was not let in"),
    "admit.left_closed": ("「{where}」没有开放", "“{where}” stays closed"),
    "admit.welcome": (
        "好了，现在可以和我说话了。/help 看看我会什么。",
        "You can talk to me now. /help shows what I can do.",
    ),
    "admit.welcome_chat": (
        "好了，这里的人现在可以问我：@我，或者回复我的消息。提醒要由我的主人单独允许过的人来设。",
        "People here can ask me now: mention me, or reply to a message of mine. "
        "Reminders are for those whom my owner let in personally.",
    ),
    "admit.nobody": ("还没有允许过谁。", "Nobody was let in yet."),
    "admit.list": ("我为这些人和群服务：", "I work for these people and groups:"),
    "admit.right_owner": ("主人 {who}", "owner {who}"),
    "admit.right_person": ("用户 {who}", "user {who}"),
    "admit.right_chat": ("群 {who}", "group {who}"),
    "admit.remove": ("移除 {number}", "Remove {number}"),
    "admit.more": (
        "……还有 {number} 个。要看其中一个：/allow 加上它的编号。",
        "… and {number} more. To see one of them: /allow and what their /id shows.",
    ),
    "admit.removed": ("已移除：{who}", "Removed: {who}"),
    "admit.unknown": (
        "用法：/allow 看名单；/allow here 开放这个群；"
        "/allow 加上对方 /id 里的编号，比如 /allow telegram:123456，允许一个人。",
        "Use: /allow shows the list; /allow here opens this group; /allow and what somebody's /id shows, like "
        "/allow telegram:123456, lets a person in.",
    ),
    "id.show": ("你：{person}\n这个聊天：{chat}", "You: {person}\nThis chat: {chat}"),
    "limit.reached": (
        "消息太多了，我先歇一分钟；这之间的我不看。",
        "That is too much at once. I rest for a minute and do not read what comes meanwhile.",
    ),
    "why.none": ("最近这里没有什么我没回答的。", "There is nothing here lately that I did not answer."),
    "why.head": ("最近这里我没有回答的：", "What I did not answer here lately:"),
    "why.line": ("{time}，{name}，{why}", "{time}, {name}, {why}"),
    "why.not-addressed": ("不是对我说的（@我，或回复我）", "not meant for me (mention me, or reply to me)"),
    "why.not-allowed": ("还没有得到允许", "not let in yet"),
    "why.limited": ("消息太多", "too many messages"),
    "why.model-failed": ("模型没有回应", "the model did not answer"),
    "press.late": ("收到，稍后告诉你结果。", "Got it, I will tell you shortly."),
    "press.failed": ("没能记下这次点击，请再按一次。", "That press could not be stored. Please press again."),
    "press.unknown": ("这个按钮已经失效了。", "This button no longer works."),
    "press.decided": ("已经处理过了。", "This has already been decided."),
    "press.expired": (
        "已经过期了，没有执行。需要就再说一次。",
        "This has expired, and nothing was done. Please ask again.",
    ),
    "press.no_number": (
        "没有这个按钮，现在能按：{number}。想说数字本身，就多写一个字。",
        "There is no such button; you can press {number}. To say the number itself, add a word.",
    ),
    "press.aside": (
        "这个请求先放下了。要继续就按「恢复」。",
        "This request was set aside. To go on with it, press “Restore”.",
    ),
    "press.noted": ("好的。", "Done."),
    "sticker": (
        "贴纸、位置这类消息我还看不懂，请用文字告诉我。",
        "I cannot read stickers, places and the like yet; please tell me in words.",
    ),
    "new.done": ("好，我们重新开始。之前的对话我不再参考。", "Fresh start. I no longer look at what we said before."),
    "stop.done": ("已停止。", "Stopped."),
    "stop.idle": ("现在没有正在进行的事。", "Nothing is running right now."),
    "status.idle": (
        "在线，空闲。这里等着的提醒：{reminders} 个。",
        "Here and idle. Reminders waiting in this conversation: {reminders}.",
    ),
    "status.busy": (
        "正在处理你的消息。这里等着的提醒：{reminders} 个。",
        "Working on your message. Reminders waiting in this conversation: {reminders}.",
    ),
    "status.waiting": (
        "在等你做决定。这里等着的提醒：{reminders} 个。",
        "Waiting for your decision. Reminders waiting in this conversation: {reminders}.",
    ),
    "tz.show": (
        "这里的时区是 {zone}，现在 {time}。要改：/tz Asia/Shanghai",
        "The zone here is {zone}, it is {time}. To change it: /tz Europe/Berlin",
    ),
    "tz.set": ("好，时区改为 {zone}，现在 {time}。", "Done, the zone is {zone} now, it is {time}."),
    "tz.unknown": (
        "不认识时区「{zone}」。请用这样的写法：/tz Asia/Shanghai",
        "I do not know the zone “{zone}”. Please write it like this: /tz Europe/Berlin",
    ),
    "command.failed": (
        "没能记下这条命令，请再发一次。",
        "That command could not be stored. Please send it again.",
    ),
    "command.unknown": ("没有这个命令。/help 看看我会什么。", "There is no such command. /help shows what I can do."),
    "model.absent": (
        "我还没有连上模型，暂时不能聊天：请设置 ANTHROPIC_API_KEY 或 OPENAI_BASE_URL。"
        "提醒照常可用，比如「2分钟后提醒我取快递」。",
        "I have no model yet, so I cannot chat: please set ANTHROPIC_API_KEY or OPENAI_BASE_URL. "
        "Reminders work all the same, like “remind me in 2 minutes to pick up the parcel”.",
    ),
    "model.failed": (
        "模型暂时没有回应，这条消息没能答上。你可以过一会儿再发一次。",
        "The model did not answer. Please send your message again in a while.",
    ),
    "model.refused": (
        "模型拒绝了这次请求，请管理员看一下设置。提醒照常可用。",
        "The model refused this request; the operator should check the settings. Reminders work all the same.",
    ),
    "model.cut": (
        "（太长，先说到这里。要我接着说，请回复「继续」。）",
        "(This got too long; say “go on” for the rest.)",
    ),
    "model.declined": (
        "模型不愿意回答这个请求，请换个说法或换个问题。",
        "The model will not answer this. Please put it differently, or ask something else.",
    ),
    "model.window": (
        "这一次的内容太长，模型读不完。请发短一些，或用 /new 重新开始。",
        "This is more than the model can read at once. Please send less, or start anew with /new.",
    ),
    "model.silent": ("（模型没有说话。）", "(The model said nothing.)"),
    "turn.limit": (
        "这件事步骤太多，我先停在这里。需要的话请把它拆小一点再说。",
        "This takes too many steps, so I stop here. Please ask for a smaller piece of it.",
    ),
    "turn.deadline": (
        "这件事做得太久了，我先停在这里。需要的话请再说一次，或把它拆小一点。",
        "This took too long, so I stop here. Please ask again, or for a smaller piece of it.",
    ),
    "turn.parked": (
        "有一条消息让我反复出错，我先把它放到一边了。其他的照常。",
        "One message kept breaking me, so I put it aside. Everything else goes on as usual.",
    ),
    "memory.asks_keep": ("记住：\n{words}", "remember:\n{words}"),
    "memory.asks_forget": ("忘记：\n{words}", "forget:\n{words}"),
    "memory.kept": ("📌 记住了：{text}", "📌 I will remember: {text}"),
    "memory.forgotten": ("已忘记：{text}", "Forgotten: {text}"),
    "memory.gone": ("「{text}」已经不在了。", "“{text}” is gone already."),
    "memory.none": (
        "我还没有记住什么。想让我记住，直接说，比如「记住我对青霉素过敏」。",
        "I remember nothing yet. Just tell me, like “remember that I am allergic to penicillin”.",
    ),
    "memory.list": (
        "我替你记住的（只有你看得到；要改的话，先忘记再说一遍）：",
        "What I remember for you (only you see it; to change a line, forget it and say it anew):",
    ),
    "memory.list_chat": (
        "我替这个聊天记住的（只在这里；要改的话，先忘记再说一遍）：",
        "What I remember for this chat (only here; to change a line, forget it and say it anew):",
    ),
    "memory.forget": ("忘记 {number}", "Forget {number}"),
    "usage.head": ("这个聊天的用量（金额是估算）：", "What this chat used (money is an estimate):"),
    "usage.today": ("今天：{used}", "Today: {used}"),
    "usage.week": ("最近 7 天：{used}", "Last 7 days: {used}"),
    "usage.month": ("最近 30 天：{used}", "Last 30 days: {used}"),
    "usage.nothing": ("没有用量", "nothing"),
    "usage.used": (
        "{total}（输入 {input}，其中缓存 {cached}；输出 {output}）",
        "{total} (in {input}, of it cached {cached}; out {output})",
    ),
    "usage.tokens": ("{tokens} tokens", "{tokens} tokens"),
    "usage.priced": ("{tokens}，约 {money}", "{tokens}, about {money}"),
    "usage.allowance": ("每天最多：{limit}", "At most in a day: {limit}"),
    "usage.people": ("最近 30 天，所有聊天，按人：", "Last 30 days, all chats, by person:"),
    "usage.stranger": ("（不知道名字）", "(name unknown)"),
    "usage.over": (
        "这个聊天今天的用量已经满了，{opens} 起我继续陪你聊。提醒和命令照常可用。",
        "This chat has used up its share for today; I am back {opens}. Reminders and commands work as usual.",
    ),
    "reminder.set": ("好，{reading} 提醒你：{body}", "Done, {reading}: {body}"),
    "reminder.set_once": ("好，{times} 提醒你：{body}（{zone}）", "Done, {times}: {body} ({zone})"),
    "reminder.ended": ("「{body}」到此为止：{why}", "“{body}” ends here: {why}"),
    "reminder.next": ("接下来：{times}（{zone}）", "Next: {times} ({zone})"),
    "reminder.body": ("提醒", "Reminder"),
    "reminder.undo": ("撤销", "Undo"),
    "reminder.undone": ("已撤销：{body}", "Undone: {body}"),
    "reminder.fired": ("⏰ {body}", "⏰ {body}"),
    # On a line of its own: apps take a bracket right behind an address for a part of it.
    "reminder.late": ("{body}\n（晚到 {ago}）", "{body}\n({ago} late)"),
    "reminder.done": ("完成", "Done"),
    "reminder.snooze": ("稍后 10 分钟", "In 10 minutes"),
    "reminder.was_done": ("⏰ {body}\n✅ {name} 完成了", "⏰ {body}\n✅ done by {name}"),
    "reminder.was_snoozed": ("⏰ {body}\n🕐 {name}：{time} 再提醒", "⏰ {body}\n🕐 {name}: again at {time}"),
    "reminder.skipped": ("错过了，没有再提醒：{body}（{time}）", "Missed and not repeated: {body} ({time})"),
    "reminder.none": ("现在没有提醒。", "No reminders."),
    "reminder.list": ("提醒：", "Reminders:"),
    "reminder.line": ("{number}. {body}，{reading}，下次 {time}", "{number}. {body}, {reading}, next {time}"),
    "reminder.line_once": ("{number}. {body}，{time}", "{number}. {body}, {time}"),
    "reminder.line_paused": ("{number}. {body}，{reading}，已暂停", "{number}. {body}, {reading}, paused"),
    "reminder.cancel": ("取消 {number}", "Cancel {number}"),
    "reminder.cancelled": ("已取消：{body}", "Cancelled: {body}"),
    "reminder.cancel_which": ("要取消哪一个？", "Which one should be cancelled?"),
    "reminder.cancel_all": ("要把这 {number} 个提醒都取消吗？", "Cancel all {number} of these reminders?"),
    "reminder.more": ("……还有 {number} 个", "… and {number} more"),
    "reminder.all": ("取消全部 {number} 个", "Cancel all {number}"),
    "reminder.keep": ("保留", "Keep"),
    "reminder.all_cancelled": ("已取消 {number} 个提醒：{body}", "Cancelled {number} reminders: {body}"),
    "reminder.all_kept": ("都留着，一个也没取消。", "All are kept; nothing was cancelled."),
    "reminder.all_gone": ("这些提醒都已经不在了。", "These reminders are gone already."),
    "reminder.back": ("已恢复：{body}", "Brought back: {body}"),
    "reminder.all_back": ("已恢复 {number} 个提醒：{body}", "Brought back {number} reminders: {body}"),
    "reminder.paused": ("已暂停：{body}", "Paused: {body}"),
    "reminder.pause_which": ("要暂停哪一个？", "Which one should be paused?"),
    "reminder.pause": ("暂停 {number}", "Pause {number}"),
    "reminder.gone": ("「{body}」已经不在了。", "“{body}” is gone already."),
    "reminder.moved_on": (
        "「{body}」后来又改过，这里不再撤销。",
        "“{body}” has been changed since; nothing is undone here.",
    ),
    "reminder.restored": ("已改回：{reading}，{body}", "Changed back: {reading}, {body}"),
    "reminder.firing": (
        "「{body}」马上就到点了，现在改来不及。",
        "“{body}” is just about to come; it is too late to change it.",
    ),
    "reminder.full": (
        "这里的提醒已经有 {limit} 个了，请先取消一些。",
        "There are {limit} reminders here already; please cancel some first.",
    ),
    "reminder.not_set": ("好，不设了。", "All right, nothing is set."),
    "reminder.too_often": ("最密只能每分钟一次。", "Once a minute is as often as it goes."),
    "schedule.unreadable": ("这个时间我没看懂。", "I could not read that time."),
    "schedule.unknown_zone": ("不认识时区「{zone}」。", "I do not know the zone “{zone}”."),
    "schedule.beyond_calendar": (
        "法定节假日安排只公布到 {until}，之后的我还不知道。公布后请再设一次。",
        "The statutory calendar is published up to {until} only. Please set it again once the next one is out.",
    ),
    "schedule.never": ("这个时间永远不会到。", "That time will never come."),
    "ask.allow": ("允许", "Allow"),
    "ask.deny": ("拒绝", "Deny"),
    "ask.card": ("需要你同意：{what}", "This needs your consent: {what}"),
    "ask.allowed": ("{what}\n✅ {name} 已允许", "{what}\n✅ allowed by {name}"),
    "ask.denied": ("{what}\n🚫 {name} 已拒绝", "{what}\n🚫 denied by {name}"),
    "ask.closed": ("{what}\n已不再需要决定", "{what}\nno decision is needed any more"),
    "ask.expired": ("{what}\n已过期：三天里没有人决定", "{what}\nexpired: nobody decided in three days"),
    "ask.aside": ("{what}\n先放下了：你说了别的", "{what}\nset aside: you wrote something else instead"),
    "ask.restore": ("恢复", "Restore"),
    "ask.not_yours": ("这要由提出的人或我的主人来决定。", "The person who asked, or my owner, decides this."),
    "reminder.asks_create": ("设一个提醒：\n{words}", "set a reminder:\n{words}"),
    "reminder.asks_change": ("改一个提醒：\n{words}", "change a reminder:\n{words}"),
    "reminder.asks_cancel": ("取消一个提醒：\n{words}", "cancel a reminder:\n{words}"),
    "shell.asks": ("运行命令：\n{words}", "run this command:\n{words}"),
    "shell.asks_long": (
        "运行命令（共 {chars} 个字符，{lines} 行）：\n{words}",
        "run this command ({chars} characters, {lines} lines):\n{words}",
    ),
    "shell.unguarded": (
        "⚠️ 这里没有隔离：命令能读到运行我的这个用户能读到的一切，包括文件和密钥。",
        "⚠️ Nothing is isolated here: a command can read all that the user I run as can read, files and keys.",
    ),
    "does.now": ("看看现在的日期和时间。", "Look at the date and time."),
    "does.calculate": ("计算一个算式。", "Work out a calculation."),
    "does.read_file": ("读一份文件。", "Read a file."),
    "does.write_file": ("写一份文件。", "Write a file."),
    "does.edit_file": ("修改一份文件。", "Change a file."),
    "does.list_files": ("看看有哪些文件。", "Look at which files there are."),
    "does.search_files": ("在文件里查找。", "Search the files."),
    "does.task": ("单独查一件事。", "Look into something apart."),
    "does.web_fetch": ("读取网页 {url}", "Read {url}"),
    "send.card": ("发到「{chat}」：\n{text}", "send to “{chat}”:\n{text}"),
    "question.hint": ("点一个，或直接回复。", "Press one, or just answer."),
    "question.answered": ("{question}\n→ {answer}", "{question}\n→ {answer}"),
    "ago.minutes": ("{minutes} 分钟", "{minutes} min"),
    "ago.hours": ("{hours} 小时 {minutes} 分", "{hours} h {minutes} min"),
    "ago.days": ("{days} 天 {hours} 小时", "{days} d {hours} h"),
    "chat.welcome": (
        "你好，我是 zclaw。试试「10秒后提醒我喝水」，或 /help。退出：Ctrl-D。English works too.",
        "Hello, I am zclaw. Try “remind me in 10 seconds to stretch”, or /help. Leave with Ctrl-D.",
    ),
    "chat.leaving": ("再见。还有 {count} 个提醒在等着。", "Goodbye. Reminders waiting: {count}."),
    "chat.leaving_none": ("再见。", "Goodbye."),
}
