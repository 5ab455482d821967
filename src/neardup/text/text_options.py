"""Text options, shared by every method: they define which words count as the same.

The defaults fold case, apply the compatibility normalisation NFKC, keep digits and accents, and
split words at punctuation. The options are part of every signature, so texts that were prepared
with different options are never compared.

The stop words of thirteen languages stand here too. The lists are short and hold closed-class words
only: articles, pronouns, prepositions, conjunctions
and auxiliaries. Users who need different words pass their own. Elided forms (l', d', qu') are
listed as the letters that remain when punctuation separates words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.errors import MissingExtraError, SettingsError

if TYPE_CHECKING:
    from neardup import _native

LANGUAGE_CODES = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}

_LISTS = {
    "english": """
        a an the this that these those i me my mine we us our ours you your yours he him his she her
        hers it its they them their theirs who whom whose which what and or but nor so if then than
        as because while when where of at by for with about against between into through during
        before after above below to from up down in out on off over under again there here be am is
        are was were been being have has had having do does did doing will would shall should can
        could may might must not no s t
    """,
    "german": """
        der die das den dem des ein eine einen einem einer eines dieser diese dieses diesen diesem
        ich mich mir mein meine du dich dir dein er ihn ihm sein seine sie ihr ihre ihren ihrem es
        wir uns unser unsere euch euer man sich wer was welche welcher welches und oder aber denn
        sondern wenn als wie dass daß weil ob da so auch noch nur schon in im an am auf aus bei beim
        mit nach seit von vom zu zum zur durch für gegen ohne um unter über vor hinter neben
        zwischen bis ist sind war waren bin bist sei gewesen haben hat hatte hatten habe werden wird
        wurde wurden worden kann können konnte soll sollen muss müssen will wollen nicht kein keine
    """,
    "french": """
        le la les l un une des du de d au aux ce cet cette ces c mon ma mes ton ta tes son sa ses
        notre nos votre vos leur leurs je j tu il elle on nous vous ils elles me m te t se s lui y
        en moi toi soi eux qui que qu quoi dont où quel quelle quels quelles et ou mais donc or ni
        car si comme quand lorsque puis dans sur sous par pour avec sans vers chez entre avant après
        depuis pendant contre à est sont était étaient être été suis es sommes êtes ai as a avons
        avez ont avait avaient avoir eu fait peut ne n pas plus
    """,
    "spanish": """
        el la los las lo un una unos unas este esta estos estas ese esa esos esas aquel aquella mi
        mis tu tus su sus nuestro nuestra nuestros nuestras yo tú él ella ello nosotros vosotros
        ellos ellas usted ustedes me te se le les nos os que qué quien quién cual cuyo y e o u pero
        sino ni si como cuando donde porque pues aunque de del a al en con por para sin sobre entre
        hasta desde hacia contra según durante es son era eran fue fueron ser sido soy está están
        estaba estar he ha han había habían haber hay no más muy ya
    """,
    "italian": """
        il lo la l i gli le un uno una questo questa questi queste quello quella quelli quelle mio
        mia miei mie tuo tua suo sua suoi sue nostro nostra vostro loro io tu lui lei noi voi essi
        mi ti si ci vi ne che chi cui quale quali e ed o od ma se come quando dove perché poi anche
        di d del dello della dell dei degli delle a ad al allo alla all ai agli alle da dal dallo
        dalla dall dai dagli dalle in nel nello nella nell nei negli nelle con su sul sulla sull sui
        sugli sulle per tra fra è sono era erano sia essere stato stata ho hai ha hanno aveva
        avevano avere non più
    """,
    "portuguese": """
        o a os as um uma uns umas este esta estes estas esse essa esses essas aquele aquela isto
        isso aquilo meu minha teu tua seu sua seus suas nosso nossa nossos nossas eu tu ele ela nós
        vós eles elas você vocês me te se lhe lhes nos vos que quem qual cujo e ou mas nem se como
        quando onde porque pois embora de do da dos das em no na nos nas num numa a ao à aos às por
        pelo pela pelos pelas para com sem sobre entre até desde contra é são era eram foi foram ser
        sido está estão estava estar tem têm tinha ter há não mais já
    """,
    "dutch": """
        de het een deze dit die dat mijn jouw zijn haar ons onze hun uw ik mij me jij je hij hem zij
        ze wij we jullie u zich wie wat welke en of maar want dus als dan toen omdat terwijl hoewel
        om te van in op aan uit bij met naar door voor tegen over onder tussen tot na sinds zonder
        er hier daar is was waren ben bent geweest wordt worden werd werden heb hebt heeft hebben
        had hadden kan kunnen kon zal zullen zou zouden moet moeten mag niet geen ook nog
    """,
    "swedish": """
        en ett den det de denna detta dessa min mitt mina din ditt dina sin sitt sina hans hennes
        dess vår vårt våra er ert era deras jag mig du dig han honom hon henne vi oss ni dem man sig
        som vem vad vilken vilket vilka och eller men utan om att när där då så eftersom medan i på
        av till från med för vid hos under över mellan mot genom efter innan ur är var vara varit
        har hade ha haft blir blev bli ska skulle kan kunde måste inte ej ingen också
    """,
    "danish": """
        en et den det de denne dette disse min mit mine din dit dine sin sit sine hans hendes dens
        dets vores jeres deres jeg mig du dig han ham hun hende vi os i jer dem man sig som der hvem
        hvad hvilken hvilket hvilke og eller men om at når hvor da så fordi mens på af til fra med
        for ved hos under over mellem mod gennem efter før ud er var være været har havde have haft
        bliver blev blive skal skulle kan kunne må vil ville ikke ingen også
    """,
    "norwegian": """
        en ei et den det de denne dette disse min mitt mine din ditt dine sin sitt sine hans hennes
        dens dets vår vårt våre deres jeg meg du deg han ham hun henne vi oss dere dem man seg som
        hvem hva hvilken hvilket hvilke og eller men om at når hvor da så fordi mens i på av til fra
        med for ved hos under over mellom mot gjennom etter før ut er var være vært har hadde ha
        hatt blir ble bli skal skulle kan kunne må vil ville ikke ingen også
    """,
    "russian": """
        я меня мне мной ты тебя тебе он его ему им она её ее ей оно мы нас нам нами вы вас вам вами
        они их ими мой моя моё мои твой свой своя своё свои наш наша наше наши ваш этот эта это эти
        этого этой этих тот та то те того той тех кто что чего чем который которая которое которые
        и а но или да же ли бы если когда как где так потому чтобы хотя в во на с со к ко у о об от
        до из за по под над при про без для через между перед был была было были быть есть будет
        будут не ни
    """,
    "polish": """
        ja mnie mi mną ty ciebie cię tobie ci on jego go jemu mu nim ona jej ją nią ono my nas nam
        nami wy was wam oni one ich im nimi mój moja moje twój swój swoja swoje nasz nasza wasz ten
        ta to te ci tego tej tych tym tę tamten kto co kogo czego czym który która które którzy i a
        ale lub albo oraz że żeby aby jeśli gdy kiedy jak gdzie więc bo ponieważ choć czy w we na z
        ze do od o u po pod nad przy przez bez dla między przed za jest są był była było były być
        będzie będą się nie
    """,
    "turkish": """
        ben beni bana benim sen seni sana senin o onu ona onun biz bizi bize bizim siz sizi size
        sizin onlar onları onlara onların bu bunu buna bunun bunlar şu şunu şuna şunun kendi kendisi
        kim ne hangi bir ve veya ya da de ama fakat ancak ile için gibi kadar göre sonra önce ki
        çünkü eğer ise hem mi mı mu mü değil var yok olan olarak oldu olur idi en daha çok
    """,
}

STOP_WORDS: dict[str, tuple[str, ...]] = {
    name: tuple(dict.fromkeys(text.split())) for name, text in _LISTS.items()
}


CHOICES = {
    "case": ("fold", "keep"),
    "digits": ("keep", "mask", "drop"),
    "punctuation": ("split", "remove"),
    "diacritics": ("keep", "strip"),
}


@dataclass(frozen=True)
class Text:
    """How a text becomes words.

    ``case``: "fold" ignores upper and lower case, "keep" distinguishes them.
    ``digits``: "keep"; "mask" writes every digit as 0, "drop" removes digits from words.
    ``punctuation``: "split" ends a word; "remove" joins what it separates (don't → dont).
    ``diacritics``: "keep"; "strip" removes accents from Latin, Greek and Cyrillic letters; in other
    scripts such marks are vowels and stay.
    ``stop_words``: the name or code of a language, or the words themselves.
    ``stem``: a Snowball language; needs the extra ``stem``.
    """

    case: str = "fold"
    digits: str = "keep"
    punctuation: str = "split"
    diacritics: str = "keep"
    stop_words: tuple[str, ...] | str = ()
    stem: str | None = None

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                hint = f"{name} is one of {', '.join(map(repr, choices))}."
                raise SettingsError(f"Text has no {name} {value!r}.", hint=hint)
        object.__setattr__(self, "stop_words", _stop_words(self.stop_words))
        if self.stem is not None:
            object.__setattr__(self, "stem", _stem(self.stem))

    def native(self) -> _native.TextOptions:
        """The options for the kernels; stop words and stems are passed as a word map."""
        from neardup import _native

        return _native.TextOptions(
            fold_case=self.case == "fold",
            digits=CHOICES["digits"].index(self.digits),
            punctuation=CHOICES["punctuation"].index(self.punctuation),
            strip_diacritics=self.diacritics == "strip",
        )


def _stop_words(value: object) -> tuple[str, ...] | str:
    if isinstance(value, str):
        name = language(value)
        if name in STOP_WORDS:
            return name
        raise SettingsError(
            f"There is no list of stop words for {value!r}.",
            hint=f"The lists are {', '.join(sorted(STOP_WORDS))}; or give the words as a tuple.",
        )
    if isinstance(value, tuple | list | set | frozenset) and all(isinstance(w, str) for w in value):
        return tuple(sorted(value) if isinstance(value, set | frozenset) else value)
    raise SettingsError(
        f"Stop words are a language or a tuple of words, not {value!r}.",
        hint="For example stop_words='english' or stop_words=('the', 'of').",
    )


def _stem(value: object) -> str:
    try:
        import Stemmer
    except ImportError:
        raise MissingExtraError(
            f"Stemming ({value!r}) needs PyStemmer, which is not installed.",
            hint="pip install 'neardup[stem]'",
        ) from None
    known = Stemmer.algorithms()
    name = language(value) if isinstance(value, str) else value
    if name not in known:
        raise SettingsError(
            f"There is no stemmer for {value!r}.", hint=f"Stemmers: {', '.join(sorted(known))}."
        )
    return str(name)


def language(name: str) -> str:
    """The language name in lower case: "de" and "German" become "german"."""
    lower = name.strip().lower()
    return LANGUAGE_CODES.get(lower, lower)
