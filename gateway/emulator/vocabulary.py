"""The words that generated text is made of."""

from typing import Final

_ENGLISH = """
    a about above after again all also and another any are as at backend batch be because before
    between block both budget but by cache can card chip chunk client context copy cost count
    counter data decode delay different does each early engine enough error every evidence example
    fast few fills first fleet follows for free from full gateway gives good graph grows has have
    health here holds how idea if in instance into is it keeps key known large last late lease less
    light like limit list little load long made make many map may measure memory might model more
    most must name near needs never new next no node not now number of often on once one only open
    or order other our out over own part path place plain plan point port prefix prompt queue quick
    rank rate reads ready real reason request rest result right route rule runs same scale second
    server set short should shows side simple since size slow small so some speed stays step still
    stream such table takes than that the their them then there these they this those three time to
    token too traffic true turn two under until up use value very wait was way we weight well what
    when where which while who whole why will with within without word work would yet you your zero
"""
ENGLISH: Final = tuple(_ENGLISH.split())
"""Words of English sentences, in lower case."""

_OPENERS = (
    "A After All An Any As At Before Both But Each Every For Here If In It Most Now On Once "
    "One Other Some Still That The Then There These This Those To Two Under We When While With "
    "You"
)
OPENERS: Final = tuple(_OPENERS.split())
"""Words that begin a sentence."""

CHINESE: Final = (
    "的一是在有和这为上个到大以说时要就出会也你对生能而子那得于着下自之年过发后作里用道行所然"
    "家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实"
    "日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应"
    "战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先"
    "海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安"
    "少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马"
    "科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交"
    "规万取拉格望觉术领共确传师观清今切院让识候带导争运笔网关模型芯片缓存请求队列词元实例负载"
)
"""Ideographs of Chinese sentences."""

WORDS: Final = tuple(
    dict.fromkeys((*ENGLISH, *OPENERS, "system", "user", "assistant", "tool", "developer"))
)
"""All words that are one token, in a fixed order."""
