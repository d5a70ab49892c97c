"""What commands say, and the lines of the menu, in Chinese and in English; part of `kernel.sentences`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OF_COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    # key: (Chinese, English)
    "help": (
        "我可以：\n"
        "• 提醒：直接说，比如「每天早上9点提醒我查房」「20分钟后提醒我取快递」\n"
        "• 聊天和办事：直接发消息\n\n"
        "/reminders 查看提醒 · /memory 我记住的事 · /tz 时区 · /new 新对话 · /stop 停下 · /retry 重新回答 · "
        "/undo 收回上一问一答 · /forget 忘掉这个聊天 · /model 模型 · /status 状态 · /usage 用量 · "
        "/why 为什么没回答 · /id 编号 · /allow 让谁用我 · /pair 连上另一个账号",
        "I can:\n"
        "• remind you: just say it, like “every day at 9 remind me to do the ward round”\n"
        "• talk and get things done: just write\n\n"
        "/reminders · /memory what I remember · /tz time zone · /new conversation · /stop · /retry answer anew · "
        "/undo the last exchange · /forget this chat · /model · /status · /usage · /why I was silent · /id · "
        "/allow people · /pair an account",
    ),
    "retry.busy": (
        "我还在处理上一件事。等它结束再用 /retry，或者先 /stop。",
        "I am still at work. Use /retry once that is done, or /stop it first.",
    ),
    "retry.waiting": (
        "上一条还在等你做决定。先按按钮，或者 /stop，再用 /retry。",
        "Your last message waits for your decision. Press a button or /stop, then use /retry.",
    ),
    "retry.nothing": (
        "这段对话里没有你说过的话可以重新回答。",
        "You have said nothing in this conversation that I could answer anew.",
    ),
    "undo.busy": (
        "我还在处理上一件事。等它结束再用 /undo，或者先 /stop。",
        "I am still at work. Use /undo once that is done, or /stop it first.",
    ),
    "undo.waiting": (
        "还有一个请求在等人做决定。先决定它，或者 /stop，再用 /undo。",
        "A request still waits for a decision. Decide it or /stop, then use /undo.",
    ),
    "undo.nothing": ("没有可以收回的。", "There is nothing to take back."),
    "undo.not_yours": (
        "这里最新的一问一答不是你的，我不收回别人的。",
        "The newest exchange here is not yours, and I take back nobody else's.",
    ),
    "undo.done": (
        "收回了：你的上一条消息和我的回答，我不再参考。",
        "Taken back: I no longer look at your last message and my answer.",
    ),
    "undo.done_acted": (
        "收回了：你的上一条消息和我的回答，我不再参考。已经做了的事不会撤销。",
        "Taken back: I no longer look at your last message and my answer. What was done stays done.",
    ),
    "forget.asks": ("忘掉这个聊天吗？会马上删除：", "Forget this chat? This is deleted at once:"),
    "forget.history": ("• 我们说过的话：{number} 条", "• what was said here: {number} messages"),
    "forget.old": ("• 以前的对话：{number} 段", "• earlier conversations: {number}"),
    "forget.memories": ("• 我替你记住的：{number} 条", "• what I remember for you: {number} notes"),
    "forget.memories_chat": ("• 我替这个群记住的：{number} 条", "• what I remember for this group: {number} notes"),
    "forget.files": ("• 文件：{number} 个", "• files: {number}"),
    "forget.reminders": ("• 提醒：{number} 个，不会再来", "• reminders, which will not come: {number}"),
    "forget.requests": (
        "• 还在做、或等人决定的事：{number} 件",
        "• requests at work, or that wait for somebody: {number}",
    ),
    "forget.parked": ("• 放到一边的消息：{number} 条", "• messages put aside: {number}"),
    "forget.rest": (
        "用量只有数字，会留下；时区等设置也留下。聊天软件里的消息我删不掉。",
        "Usage is only numbers and stays, and so do settings like the time zone. I cannot delete the messages in "
        "your app.",
    ),
    "forget.asks_me": (
        "忘掉你吗？会马上删除：我替你记住的 {number} 条，和我知道的你的名字、语言、时区。",
        "Forget you? This is deleted at once: what I remember for you ({number} notes), and your name, language and "
        "time zone as I know them.",
    ),
    "forget.rest_me": (
        "这里说过的话、提醒和用量会留下；要删除整个聊天：/forget（群里由我的主人来）。你再写一条消息，我会重新知道你的名字。",
        "What was said here, reminders and usage stay; for the whole chat there is /forget (in a group my owner's). "
        "When you write again I learn your name anew.",
    ),
    "forget.yes": ("全部忘掉", "Forget it all"),
    "forget.no": ("保留", "Keep"),
    "forget.done": ("已经全部忘掉了。", "All of it is forgotten."),
    "forget.done_me": ("已经忘掉你了。", "You are forgotten."),
    "forget.kept": ("什么也没有删除。", "Nothing was deleted."),
    "forget.card": ("（已忘掉）", "(forgotten)"),
    "forget.not_yours": ("这要由提出的人来决定。", "The person who asked decides this."),
    "forget.usage": (
        "用法：/forget 忘掉这个聊天；/forget me 只忘掉你。",
        "Use: /forget for this chat; /forget me for you alone.",
    ),
    "model.list": ("我用的模型，按先后：", "My models, in order:"),
    "model.line": ("{number}. {name}", "{number}. {name}"),
    "model.line_now": ("{number}. {name}（现在回答的）", "{number}. {name} (answers now)"),
    "model.chosen": (
        "这里选了 {name}。改回去：/model auto",
        "Chosen here: {name}. To undo: /model auto",
    ),
    "model.choose": (
        "我的主人可以为这里选一个：/model 加上名字。",
        "My owner can choose one for this chat: /model and its name.",
    ),
    "model.set": (
        "好，这里先用 {name}；它没有回应时用别的。",
        "Done, {name} answers here; another one does when it is away.",
    ),
    "model.set_auto": ("好，这里按原来的先后。", "Done, the usual order counts here."),
    "model.away": (
        "模型服务还没有回应，名字还不知道。",
        "The model's service has not answered yet; its name is not known.",
    ),
    "model.unknown": ("没有这个模型。有这些：\n{lines}", "There is no such model. There are:\n{lines}"),
    "menu.help": ("看看我会什么", "What I can do"),
    "menu.reminders": ("查看和取消提醒", "Your reminders"),
    "menu.new": ("开始新的对话", "Start a new conversation"),
    "menu.stop": ("停下正在做的事", "Stop what is running"),
    "menu.retry": ("重新回答我上一条消息", "Answer my last message anew"),
    "menu.undo": ("收回上一问一答", "Take the last exchange back"),
    "menu.forget": ("忘掉这个聊天", "Forget this chat"),
    "menu.model": ("用的是哪个模型", "Which model answers"),
    "menu.status": ("我在做什么", "What I am doing"),
    "menu.memory": ("我记住了什么", "What I remember"),
    "menu.usage": ("用了多少", "What was used"),
    "menu.id": ("我的编号", "Ids of you and this chat"),
    "menu.why": ("为什么没回答", "Why I did not answer"),
    "menu.allow": ("让谁用我", "Who may use me"),
    "menu.pair": ("连上我的另一个账号", "Link another account"),
    "menu.tz": ("查看或更改时区", "Show or change the time zone"),
}
