"""What is confused: characters that look alike in print, and keys that lie side by side.

Latin, Greek and Cyrillic from what OCR engines are known to confuse; Arabic and Hebrew by their
dots and strokes, kana and Thai by their shapes.
"""

from __future__ import annotations

# A letter and what it is read as; more than one letter where it falls apart.
_READ_AS = (
    "m:rn,in,nn l:1,I,i,t 1:l,I i:l,1,j,ı I:l,1,T o:c,0,e e:c,o c:e,o h:b,li b:h,6 u:n,ii,v n:u,ri "
    "d:cl,a w:vv k:lc f:t,ſ t:f,l,r s:ſ,f,a S:5,8 5:S B:8,R 8:B,3 g:q,9 q:g y:v,j v:y,u a:s,u,o "
    "r:t,x z:x j:; p:n,q x:z O:0,Q,D 0:O,o 2:Z Z:2 6:b 9:g 3:8 7:1 4:A E:F,B F:P,E D:O G:C,6 C:G,( "
    "M:N,IVI N:M,H H:N,II W:VV U:V,II V:U,Y R:B,K K:R P:F T:I,Y L:I,J A:4 .:, ,:. ::; ;:: -:~,_ "
    "ä:a,ii,å ö:o,6 ü:u,ii Ä:A Ö:O Ü:U ß:B,fs,b é:e,6 è:e ê:e,6 ë:e à:a á:a â:a,å ã:a å:a ç:c,g "
    "ñ:n,ii ó:o,6 ò:o ô:o,6 õ:o ø:o,e í:i,l ì:i î:i ï:i ú:u ù:u û:u æ:œ,ae œ:æ,oe ł:l,t "
    "ś:s ş:s š:s ć:c č:c ń:n ż:z ź:z ž:z ř:r ě:e ğ:g ı:i ő:ö ű:ü đ:d ţ:t ą:a ę:e "
    "п:н,л н:п,и и:н,п ш:щ,ни щ:ш с:е,о е:с,о о:с,е ь:ъ,б ъ:ь б:6,ь з:э,3 э:з в:б,о л:п д:л "
    "м:ш т:г г:т й:и ц:п ё:е р:о у:х х:к к:х ы:ьт,н ю:го я:л і:ї,1 ї:і є:с "
    "ν:υ υ:ν,ο ο:σ,ό σ:ο,δ α:ο,σ ε:έ,ς ι:ί ί:ι τ:ι π:η η:π,ή ή:η ρ:ο κ:χ χ:κ ω:ώ μ:ν ς:ε"
)
# Each of a set may be read as each other.
_SETS = (
    "بتثنيپ جحخچ دذ رزژ سش صض طظ عغ فق ةه كگک وؤ اأإآ ىيی "
    "החת וזן דרך בכ םס גנ עצ טמ "
    "シツ ソンリ ハバパ カガ キギ クグ コゴユ ウワフヌ メナ テデチ ぬめあ るろ ねれわ はほば "
    "きさ かが くぐ たな とど しじ いり てで しつ つっ ょよ ゃや ゅゆ "
    "กภถ คดต ผฝพฟ ชซข บปษ นม สล รธ อฮ ฎฏ ิีึื ่้ "
    "भम पषय बव धघ दढ रस डङ कफ तन िी ुू ेै ोौ"
)
# Two letters that are read as one, and ligatures.
JOINED = {"rn": "m", "cl": "d", "vv": "w", "ii": "ü", "li": "h", "nn": "m", "fi": "ﬁ", "fl": "ﬂ"}
JOINED |= {"ff": "ﬀ", "ri": "n", "ss": "ß", "ae": "æ", "ni": "m", "in": "m", "tl": "d", "ьт": "ы"}

_ROWS = (
    *("qwertyuiop", "asdfghjkl", "zxcvbnm", "1234567890"),
    *("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
    *("ضصثقفغعهخحج", "شسيبلاتنمكط"),
    *("ςερτυθιοπ", "ασδφγηξκλ", "ζχψωβνμ"),
)


def _lookalikes() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in _READ_AS.split():
        letter, others = entry[0], entry[2:]
        found[letter] = [one for one in others.split(",") if one and one != letter] or [others]
    for group in _SETS.split():
        for letter in group:
            known = found.setdefault(letter, [])
            known += [other for other in group if other not in (letter, *known)]
    return found


def _neighbours() -> dict[str, str]:
    return {
        letter: row[max(i - 1, 0) : i] + row[i + 1 : i + 2]
        for row in _ROWS
        for i, letter in enumerate(row)
    }


LOOKALIKES = _lookalikes()
NEIGHBOURS = _neighbours()
