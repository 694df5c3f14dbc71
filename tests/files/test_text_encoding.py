"""Bytes to text: Unicode with what is wrong in it marked, and older encodings only where they are certain."""

import pytest

from chat.files.confined.problem import Problem
from chat.files.confined.text_encoding import decoded
from chat.files.document_types import guess

GERMAN = "Grüße aus Köln: fünf Brötchen, süße Äpfel, heiße Würstchen für 25 €.\n"
SPANISH = "El niño comió una manzana en el jardín. Mañana será otro día, ¿no?\n"
FRENCH = "Les élèves étaient très heureux à la fête, l'été dernier déjà.\n"
RUSSIAN = "Протокол собрания: пятое марта, четверг. Продажи выросли.\n"
POLISH = "Proszę przyjść wcześniej; następne zebranie odbędzie się w Łodzi.\n"
CZECH = "Příští schůze se koná v pátek; žádáme všechny, aby přišli včas.\n"
HUNGARIAN = "A következő ülés pénteken lesz; kérjük, időben érkezzenek, és hűtőt hozzanak.\n"
GREEK = "Πρακτικά συνεδρίασης: οι πωλήσεις αυξήθηκαν κατά δώδεκα τοις εκατό.\n"
TURKISH = "Toplantı perşembe günü saat ikide; lütfen geç kalmayın, çay içeceğiz.\n"
HEBREW = "פרוטוקול הישיבה: המכירות עלו בשנים עשר אחוזים.\n"
ARABIC = "محضر الاجتماع: ارتفعت المبيعات في الشهر الماضي.\n"
CHINESE = "会议记录：上月销售额比去年同期增长百分之十二。\n"
TAIWANESE = "會議記錄：上月銷售額比去年同期增長百分之十二。\n"
JAPANESE = "議事録：先月の売上は前年同月より増えました。\n"
KOREAN = "회의록: 지난달 매출이 작년보다 늘었습니다.\n"
LITHUANIAN = "Šiandien aptarėme pardavimų augimą. Kitas susirinkimas įvyks penktadienį, žinoma.\n"
ENGLISH = "“We don’t open on Mondays,” the café’s owner said – it’s £25 or €30.\n"

OF = {
    "cp1252": [GERMAN, SPANISH, FRENCH, ENGLISH, "id;ort\n1;Müller;Köln\n", "© 2024 Example Ltd.\n",
    "25 °C, 30 m²\n"],
    "iso8859-15": [GERMAN, FRENCH],
    "cp850": [GERMAN.replace("€", "EUR"), FRENCH],
    "cp437": [GERMAN.replace("€", "EUR"), FRENCH],
    "cp860": ["Relatório da produção: não houve alterações na região.\n"],
    "cp861": ["Fundurinn hefur verið færður til mánudags, segir Þórður.\n"],
    "cp863": [FRENCH],
    "cp720": ["تم نقل الاجتماع إلى يوم الاثنين القادم في الساعة العاشرة صباحا\n"],
    "mac_roman": [GERMAN, FRENCH, SPANISH],
    "cp1250": ["Mâine este o şedinţă în sală, vă rugăm să ajungeţi la timp.\n",
        POLISH, CZECH, HUNGARIAN, "Jméno;Město\nJiří Dvořák;Plzeň\nŽofie Šťastná;Děčín\n"],
    "iso8859-2": [POLISH, CZECH, HUNGARIAN],
    "cp852": [POLISH, CZECH],
    "cp1251": [RUSSIAN, "Имя;Город\nИван;Москва\nПётр;Орёл\n", "Їжак і гусь живуть у Києві.\n"],
    "koi8-r": [RUSSIAN, "Имя;Город\nИван;Москва\n"],
    "koi8-u": ["Ім'я;Місто\nОлексій;Київ\nЇжак;Львів\n"],
    "iso8859-5": [RUSSIAN],
    "cp866": [RUSSIAN, "Отчёт за март\nИтого: 25 шт.\n"],
    "mac_cyrillic": [RUSSIAN],
    "cp1253": [GREEK, "Πόλη;Κάτοικοι\nΑθήνα;643000\nΠάτρα;171000\n"],
    "iso8859-7": [GREEK],
    "cp737": [GREEK],
    "cp1254": [TURKISH],
    "iso8859-9": [TURKISH],
    "cp1255": [HEBREW],
    "iso8859-8": [HEBREW],
    "cp1256": [ARABIC],
    "iso8859-6": [ARABIC],
    "cp1257": [LITHUANIAN, "Vārds;Pilsēta\nJānis Bērziņš;Rīga\nLāsma;Daugavpils\n"],
    "iso8859-13": [LITHUANIAN],
    "cp874": ["รายงานการประชุม: ยอดขายเพิ่มขึ้นจากเดือนก่อน\n"],
    "gb18030": [CHINESE, "姓名,城市\n王小明,北京\n", "int x = 0; // 初始化变量\nfloat y; // 返回结果\n"],
    "big5": [TAIWANESE, "姓名,城市\n王小明,台北\n陳美玲,高雄\n"],
    "cp932": [JAPANESE, "名前,都市\n田中,東京\n鈴木,大阪\n", "売上ｺｰﾄﾞ,金額\nｱｲｳ商事,１２０\n"],
    "euc_jp": [JAPANESE],
    "iso2022_jp": [JAPANESE],
    "cp949": [KOREAN, "이름,도시\n김철수,서울\n"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("encoding", "text"), [(encoding, text) for encoding, texts in OF.items() for text in texts]
)
@pytest.mark.parametrize("times", [1, 40])
def test_a_text_in_an_older_encoding(encoding: str, text: str, times: int) -> None:
    assert decoded((text * times).encode(encoding)) == text * times


# Heads and lines of which a sign is all that is not ASCII, or nearly so.
SIGNS = [
    "Datum;Betrag (€)\n1.5.;12,90\n", '"Buchungstag";"Betrag (€)"\n', "Artikel;€/kg\nÄpfel;2,40\n",
    "Price (£);Stock\n12;3\n", "Cost in £;x\n1;2\n", "Article;Price (£)\nTea;£45.00\n", "Size;£/kg\n",
    "Total: £1,200.50\n", "¥1200\n", "Time;Temp (°C)\n8;12\n", "Zeit;Nitrat (µg/l)\n8;12\n",
    "Toleranz (±5)\nGröße\n", "Größe;±5 mm\n", "Preis 50,–\nStühle\n",
    "Öffnungszeiten Mo–Fr 18:00–19:00 Uhr\n", "Monday–Friday 10am–4pm\n", "† 1986 in Köln\n",
    "Importe (€);Descripción\n5;Señora Peña\n", "Bedrag (€)\nCafé\n", "(½ cup) flour\n",
]  # fmt: skip


@pytest.mark.parametrize("text", SIGNS)
def test_signs_in_brackets_and_cells(text: str) -> None:
    assert decoded(text.encode("cp1252")) == text


@pytest.mark.parametrize(
    "text", ["Größe;(µg)\n", "Total ® per item\nCafé\n", "5‰ a day\n", "25¢\n", "a;(…);b\n", "§ 5 (§ 3)\n"]
)
@pytest.mark.parametrize("encoding", ["cp1252", "cp850", "mac_roman"])
def test_signs_in_other_places_are_no_letters(encoding: str, text: str) -> None:
    content = text.encode(encoding, "ignore")
    assert right_or_refused(content, content.decode(encoding))


LETTER = "Sehr geehrter Herr Müller,\r\nwir bestätigen den Termin für Köln.\r\n"


@pytest.mark.parametrize("encoding", ["cp850", "cp1252"])
@pytest.mark.parametrize(("byte", "shown"), [(b"\x1a", ""), (b"\0 on", "\ufffd on"), (b"\x07.", "\ufffd.")])
def test_control_bytes_of_an_older_text(encoding: str, byte: bytes, shown: str) -> None:
    assert decoded(LETTER.encode(encoding) + byte) == LETTER + shown
    assert guess("a.txt", LETTER.encode(encoding) + byte) == "text/plain"


def test_vietnamese_marks_are_joined_to_their_letters() -> None:
    marked = "Ho\u0323 tên;Thành phô\u0301\nNguyê\u0303n Văn Đư\u0301c;Huê\u0301\n"
    assert decoded(marked.encode("cp1258", "ignore")).startswith("Họ tên;")


def right_or_refused(content: bytes, text: str) -> bool:
    try:
        return decoded(content) == text
    except Problem as problem:
        return str(problem) == "encoding"


@pytest.mark.parametrize("text", ["Привет!", "中文", "ďakujem", "ő", "日本", "şu", "où", "é"])
@pytest.mark.parametrize("encoding", ["koi8-r", "cp866", "cp852", "mac_roman", "cp857"])
def test_what_is_uncertain_is_never_guessed_wrongly(text: str, encoding: str) -> None:
    assert right_or_refused(text.encode(encoding, "ignore"), text.encode(encoding, "ignore").decode(encoding))


@pytest.mark.parametrize(("encoding", "text"), [("cp1252", GERMAN), ("cp1250", POLISH), ("cp1252", ENGLISH)])
@pytest.mark.parametrize("line", ["Größe: fünf\n", "Łódź; żółw\n", "Ørsted"])
def test_lines_of_utf8_in_an_older_text(encoding: str, text: str, line: str) -> None:
    assert decoded((text * 3).encode(encoding) + line.encode()) == text * 3 + line
    assert decoded(line.encode() + b"\n" + (text * 3).encode(encoding)) == f"{line}\n{text * 3}"


@pytest.mark.parametrize(("encoding", "text"), [("gb18030", "脙露\n"), ("cp1251", "Гі\n")])
def test_other_lines_that_could_be_utf8(encoding: str, text: str) -> None:
    whole = {"gb18030": CHINESE, "cp1251": RUSSIAN}[encoding] * 3 + text
    assert right_or_refused(whole.encode(encoding), whole)


GREEK_NAMES = "ΟΝΟΜΑ;ΠΟΛΗ\nΓΙΩΡΓΟΣ;ΑΘΗΝΑ\nΕΛΕΝΗ;ΘΕΣΣΑΛΟΝΙΚΗ\n"
RUSSIAN_NAMES = "ФАМИЛИЯ;ИМЯ\nИВАНОВ;ИВАН\nПЕТРОВА;АННА\n"
CAPITALS = {
    "cp1253": [GREEK_NAMES, "ΤΙΜΟΛΟΓΙΟ\n", "ΔΕΛΤΙΟ ΤΥΠΟΥ\n"],
    "iso8859-7": [GREEK_NAMES, "ΤΙΜΟΛΟΓΙΟ\n"],
    "cp737": [GREEK_NAMES],
    "cp1251": [RUSSIAN_NAMES, "ОТЧЁТ\n", "ДОГОВОР АРЕНДЫ № 5\n"],
    "koi8-r": [RUSSIAN_NAMES],
    "cp932": ["ｺｰﾄﾞ,ｼﾒｲ,ｷﾝｶﾞｸ\n001,ﾔﾏﾀﾞ ﾀﾛｳ,1200\n002,ｽｽﾞｷ ﾊﾅｺ,3400\n"],
}


@pytest.mark.parametrize(
    ("encoding", "text"), [(encoding, text) for encoding, texts in CAPITALS.items() for text in texts]
)
def test_capitals_and_narrow_kana_are_no_frames(encoding: str, text: str) -> None:
    assert right_or_refused(text.encode(encoding), text)


@pytest.mark.parametrize("text", ["╔════╗\n║ Hi ║\n╚════╝\n", "C:.\n├───docs\n│   └───a\n└───src\n"])
def test_frames_of_dos_are_read(text: str) -> None:
    assert decoded(text.encode("cp437")) == text


CAPITALS_ONLY = "HELLO WORLD THIS IS EBCDIC TEXT 123\n"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("kz1048", "Жиналыс дүйсенбіге ауыстырылды, деді әкім қаладағы өкілге.\n"),
        ("kz1048", "Хурал даваа гаригт шилжлээ гэж дарга өгүүлэв.\n"),
        ("ptcp154", "Маҷлис ба душанбе гузаронида шуд, гуфт ҳоким дар шаҳр.\n"),
        ("cp775", "Spotkanie przełożono na poniedziałek, rzekł dyrektor Żółć.\n"),
        *((encoding, CAPITALS_ONLY) for encoding in ("cp037", "cp500", "cp273", "cp1140")),
        ("cp500", "Mbledhja u shty për të hënën, tha zoti Çela në qytet.\n"),
    ],
)
@pytest.mark.parametrize("times", [1, 4])
def test_an_encoding_that_is_not_known_is_refused(encoding: str, text: str, times: int) -> None:
    assert right_or_refused((text * times).encode(encoding), text * times)


@pytest.mark.parametrize("content", ["ő".encode("cp1250"), "中文".encode("big5"), b"x\x95\x9dy"])
def test_what_is_uncertain_is_refused(content: bytes) -> None:
    with pytest.raises(Problem, match="encoding"):
        decoded(content)


def test_a_language_that_is_not_known_is_refused() -> None:
    with pytest.raises(Problem, match="encoding"):
        decoded(bytes(range(0xA1, 0xFF)) * 3)


ROW = "Müller,Köln,東京\n".encode()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xff" + ROW, "\ufffdMüller,Köln,東京\n"),
        (ROW + b"Schr\xf6der,D\xfcsseldorf\n", "Müller,Köln,東京\nSchr\ufffdder,D\ufffdsseldorf\n"),
        ("Überblick".encode() + b" \x96 off", "Überblick \ufffd off"),
        (ROW + "Übertragung 東".encode()[:-1], "Müller,Köln,東京\nÜbertragung \ufffd"),
        (ROW + b"start\0\0\0\nstop", "Müller,Köln,東京\nstart\ufffd\nstop"),
        (b"a plain log\0 of ASCII, as long as this one", "a plain log\ufffd of ASCII, as long as this one"),
        (b"AT&T &copy 2024 x &notit; &ampamp; a\0b", "AT&T &copy 2024 x &notit; &ampamp; a\ufffdb"),
        (b"1,2,3\n4,5,6\n7,8\0,9\n", "1,2,3\n4,5,6\n7,8\ufffd,9\n"),
        (b"so it ends\r\n\x1a", "so it ends\r\n"),
        (b"N\bNA\bA _\bx\n\b ab\bc 5%\b\b10%", "NA x\n ac 10%"),
        (b"end\b\nof 100%\b\b\b\b9", "end\nof 900%"),
        ("né ".encode() + b"\xed\xa0\xbd\xed\xb8\x80", "né \U0001f600"),
        ("né ".encode() + b"\xed\xa0\xbd alone", "né \ufffd alone"),
        (ROW * 9 + b"Stra\xdfe " * 9, ROW.decode() * 9 + "Stra\ufffde " * 9),
        (b"x" * 1_490 + b" \xff\x9d", "x" * 1_490 + " \ufffd\ufffd"),
        ("Zeit: 5 µs \ufffd \ufffd".encode() + b"\xfc", "Zeit: 5 µs \ufffd \ufffd\ufffd"),
    ],
    ids=range(16),
)  # fmt: skip
def test_utf8_with_bytes_that_are_not(content: bytes, text: str) -> None:
    assert decoded(content) == text
    assert guess("a.log", content[:4_096]) == "text/plain"


WIDE_TEXTS = [
    "名前,都市\n田中,東京\n",
    "Grüße, “Welt”\r\n\tx",
    "Имя;Город\nИван;Москва\n",
    "ราคา 25\n",
    "a\U0001f600b c",
]


@pytest.mark.parametrize("text", WIDE_TEXTS)
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf16_and_utf32(text: str, encoding: str, mark: str) -> None:
    content = (mark + text).encode(encoding)
    assert guess("a.csv", content) == "text/csv"
    assert decoded(content) == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("before", ["Log start\r\nüber\r\n", "東京都,名前\r\nかきくけこさしすせそ,高橋\r\n"])
def test_ascii_that_was_appended_to_utf16(encoding: str, before: str) -> None:
    appended = "second line appended by another program\r\n"
    assert decoded(f"\ufeff{before}".encode(encoding) + appended.encode()) == before + appended


def test_utf16_cut_inside_a_character() -> None:
    assert decoded("\ufeffGrüße 東京".encode("utf-16-le")[:-1]) == "Grüße 東\ufffd"


MIXED = b"Log start\r\nline one is here\r\nline two is here\r\n" + "appended\r\n".encode("utf-16-le")


@pytest.mark.parametrize(
    "content",
    [b"MZ\x90\0\x03\0\0\0\x04\0", b"II*\0\x08\0", b"\x7fELF\x02\x01\x01\0", bytes(100),
     b"ID3\x04\0\0\0\0", MIXED],
)  # fmt: skip
def test_binary_content_is_no_text(content: bytes) -> None:
    assert guess("a.txt", content) is None
    with pytest.raises(Problem, match="type"):
        decoded(content)


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ('<meta charset="Shift_JIS">', "cp932"),
        ("<meta http-equiv='Content-Type' content='text/html; charset=ISO-8859-8-I'>", "cp1255"),
        ('<?xml version="1.0" encoding="windows-1255"?>', "cp1255"),
        ("<?xml version='1.0' encoding='koi8-r'?>", "koi8-r"),
        ("#!/bin/sh\n# -*- coding: latin-1 -*-\n", "latin-1"),
        ("# vim: set fileencoding=cp1250 :\n", "cp1250"),
        (";; -*- mode: lisp; coding: euc-jp -*-\n", "euc_jp"),
        ('@charset "iso-8859-1";\n', "cp1252"),
    ],
)
def test_a_declared_encoding(head: str, encoding: str) -> None:
    short = {"cp932": "日本", "cp1255": "דג", "koi8-r": "до", "euc_jp": "日本"}.get(encoding, "ü")
    assert decoded((head + short).encode(encoding)) == head + short


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('<meta charset="iso-8859-1">東京'.encode(), '<meta charset="iso-8859-1">東京'),
        (b'<meta charset="unicode_escape">\\u0041', '<meta charset="unicode_escape">\\u0041'),
        (b'<meta charset="gbk">' + "中文".encode("gbk") + b"\xff", '<meta charset="gbk">中文\ufffd'),
    ],
)  # fmt: skip
def test_a_declaration_is_not_trusted_blindly(content: bytes, text: str) -> None:
    assert decoded(content) == text
