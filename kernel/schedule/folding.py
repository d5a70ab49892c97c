"""Folds a message to the characters the tables are written in: half width, lower case, simplified."""

from __future__ import annotations

from kernel.schedule.tokens import words

_PAIRS = words(
    "點点 鐘钟 鍾钟 鬧闹 週周 禮礼 號号 後后 個个 兩两 時时 間间 過过 從从 開开 們们 設设 訂订 幫帮 請请 給给 "
    "記记 別别 讓让 聽听 節节 農农 曆历 歷历 國国 慶庆 聖圣 誕诞 臘腊 東东 倫伦 紐纽 約约 區区 總总 刪删 閉闭 "
    "關关 幾几 嗎吗 麼么 為为 說说 話话 寫写 結结 檢检 測测 發发 連连 續续 內内 歲岁 準准 單单 雙双 親亲 師师 "
    "勞劳 動动 兒儿 婦妇 樹树 醫医 護护 當当 這这 還还 沒没 暫暂 銷销 項项 務务 計计 頓顿 飯饭 覺觉 喚唤 應应 "
    "該该 遲迟 淩凌 來来 晝昼 尋寻 會会 問问 學学 鐵铁 將将 諾诺 謝谢 啟启 終终 歐欧 語语 譯译 釋释 貼贴 據据 "
    "淨净 無无 題题 隻只 條条 對对 嘅的 喺在 畀给 俾给 邊边 係系 級级 樣样 錶表 舊旧 備备 場场 綱纲 獨独 臨临 "
    "滿满 剛刚 聲声 響响 報报 訊讯 蘋苹 論论 確确 專专 員员 馬马 嚟来 咗了 睇看 搵找 咁这 啲些 喇啦 佢他 哋们 "
    "乜什 冇没 嗰那 係是 較较 齋斋 陽阳 廳厅 嗌喊 鈴铃 撳按 複复 復复 覆复 頭头 飛飞 郵邮 筆笔 鑰钥 藥药 餓饿 "
    "輪轮 隨随 際际 優优 產产 價价 險险 預预 輸输 執执 態态 隊队 傳传 賬账 買买 賣卖 紀纪 錄录 萬万 與与 業业 "
    "爲为 麽么 樂乐 習习 書书 於于 虧亏 眾众 體体 倆俩 債债 黨党 蘭兰 軍军 決决 創创 製制 勸劝 辦办 昇升 華华 "
    "協协 髮发 臺台 檯台 颱台 啓启 唄呗 喲哟 餵喂 囑嘱 迴回 圖图 夠够 奧奥 媽妈 寶宝 導导 爾尔 屆届 佈布 幹干 "
    "乾干 並并 併并 倖幸 牀床 廢废 彈弹 歸归 噹当 録录 誌志 唸念 慣惯 戶户 纔才 託托 擴扩 掃扫 擬拟 換换 蒐搜 "
    "數数 顯显 曬晒 機机 闆板 査查 標标 檔档 樓楼 氣气 彙汇 匯汇 註注 潤润 灣湾 濕湿 煩烦 熱热 爺爷 貓猫 現现 "
    "電电 畫画 監监 盤盘 著着 碼码 種种 祕秘 簽签 籤签 納纳 線线 練练 組组 紹绍 經经 統统 編编 縮缩 網网 羅罗 "
    "腦脑 蘇苏 薦荐 葯药 營营 規规 認认 訓训 議议 講讲 評评 訴诉 診诊 試试 詢询 説说 誒诶 讀读 課课 誰谁 調调 "
    "貨货 貿贸 賽赛 讚赞 贊赞 蹤踪 車车 轉转 軟软 載载 輯辑 運运 進进 適适 選选 採采 裏里 裡里 釘钉 銀银 長长 "
    "閑闲 閒闲 陰阴 陣阵 靜静 韓韩 順顺 須须 顧顾 領领 餅饼 黃黄 齡龄 鈡钟 毎每 甚什"
)
"""Traditional and Cantonese characters with the one the tables use."""


def _table() -> dict[int, str]:
    table = {0xFF01 + i: chr(0x21 + i) for i in range(94)}
    table[0x3000] = " "
    table[0xFF5E] = "~"
    table |= {ord(pair[0]): pair[1] for pair in _PAIRS}
    table |= {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    table |= {0xFF21 + i: chr(0x61 + i) for i in range(26)}
    table |= {ord("‘"): "'", ord("’"): "'", ord("〇"): "零", ord("﹕"): ":", ord("︰"): ":", ord("∶"): ":", 0xA0: " "}
    return table


_TABLE = _table()


def fold(text: str) -> str:
    """The text in half width, lower case and simplified where the grammar has a word; as long as the original."""
    return text.translate(_TABLE)


def without_layout(text: str) -> str:
    """The text with quoted lines blanked out, and without the blanks of a message written letter by letter."""
    if ">" in text or "＞" in text:
        lines = text.split("\n")
        text = "\n".join(" " * len(line) if line.lstrip().startswith((">", "＞")) else line for line in lines)
    return "".join(text.split()) if _is_spaced_out(text) else text


def _is_spaced_out(text: str) -> bool:
    """每 天 早 上 8 点: nearly every character stands alone."""
    if text.isascii() or text.count(" ") < _SPACED_OUT:
        return False
    pieces = text.split()
    return len(pieces) > _SPACED_OUT and sum(len(piece) <= 2 for piece in pieces) >= 0.9 * len(pieces)


_SPACED_OUT = 5
