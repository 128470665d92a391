"""The words by which `trust` recognises the form of a statement, as patterns.

The lists are closed classes of words: negations, conjunctions, prepositions, auxiliary verbs, verbs of being, having
and resulting. A low line in a list stands for a space.
"""

import re

from plaudit.verify.numbers import NUMBER
from plaudit.verify.patterns import compile_late

__all__ = [
    "AGAIN", "AMOUNTS_TO", "ASIDE", "AUTHOR", "BEFORE_ANSWER", "BEHIND_ANSWER", "CLOSING", "CONDITION", "CORRECTION",
    "DENIAL", "CHECK", "INSIDE", "IN_BRACKETS", "IS_THE_ANSWER", "JOINED", "LABEL", "LEAD", "LEADS_UP", "MARKUP",
    "NOUN_CLAUSE", "OF_ANSWER", "QUANTITY", "RELATED", "REMARK", "SENTENCE_END", "SIGN", "TURN", "UNIT_WORDS",
]  # fmt: skip


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})".replace("_", " ")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _pattern(pattern: str) -> re.Pattern[str]:
    return compile_late(pattern, re.IGNORECASE | re.DOTALL)


SENTENCE_END = compile_late(
    r"[.!?](?=[\s*_\"')$\\]|$)(?<!\bDr.)(?<!\bM[rs].)(?<!\bMrs.)(?<!\bvs.)(?<!\bSt.)(?<!\bapprox.)(?<!\be\.g.)(?<!\bi\.e.)"
    r"(?<!\b[Nn]o\.(?=\s\d))|[。！？\n]|(?:\\\]|\$\$)(?=\s+[A-Z])"
)
MARKUP = compile_late(
    r"\\(?:text|mathrm|mathbf|mbox|textbf)\s?\{|\\(?:begin|end)\s?\{[^{}]*\}|</?\w+>|\\[\])(\[,;:!. \\]|\\q?quad\b"
    r"|[$*_`}{~\s&]+"
)
_THEREFORE = _any("so thus hence therefore then finally and now")
# Where a sentence begins to state something of its own.
TURN = _pattern(
    r"\b(?:yet|but)\b(?<!nothing but)(?<!anything but)(?<!everything but)(?<!\ball but)|;"
    rf"|[,:]\s*(?=(?:{_THEREFORE}|{_any('we our the it there this which he she they leaving giving making')})\b)"
    r"|\bso\s+(?=(?:the|our|we|it)\b)"
)
# Words with which a sentence may open before its answer.
LEAD = _pattern(
    rf"(?:(?:{_THEREFORE}|{_any('indeed in_total in_conclusion overall altogether that_is or also yes clearly')}"
    r"|exactly"
    rf"|we {_any('get have find obtain see conclude')}(?: that)?|it follows that|{_any('case option step part')}"
    r"|\d+(?=[.):])|this (?:gives|means|yields)(?: that)?)\b|\W)*+"
)
_DENYING = (
    r"n['’]t\b|\b(?:not(?! only\b)|(?<!second )thought|(?:might|may|could)\s(?:\w+\s)?(?:be|think|say|guess)"
    r"|(?<!\bI )(?<!\bwe )(?:thinks?|says?|said|claims?|believes?)|"
    + _any(
        "never no nope neither nor none nobody nothing anything everything cannot hardly isnt aint nicht kein\\w* pas "
        "jamais nunca wrong\\w* incorrect\\w* false\\w* untrue mistak\\w+ impossible unlikely doubt\\w* deny denies "
        "denied "
        "refus\\w+ suppose pretend imagine whether except rejected discarded excluded guessed"
    )
    + r")\b|不|没|并非"
)
DENIAL = _pattern(_DENYING)
_AMOUNT = _any("total sum amount average mean speed area volume value rate profit loss distance cost price")
# "The number of people who did not vote is 4" denies nothing that it states.
QUANTITY = _pattern(
    rf"\W*(?:{_THEREFORE}\b\W*)?(?:the|how)\s(?:(?!{_DENYING})\w+\s){{0,2}}?(?:{_AMOUNT}"
    rf"|{_any('number probability percentage share count length time chance age many much')})\b.*"
    r"\b(?:is|are|was|were|equals|be)\W*"
)
CONDITION = _pattern(r"\b(?:if|unless|provided|assuming)\b\s*(?:that\s+)?([^,.;]{0,80})(?:,[^,]*)?$")
# Prepositions and operations of which the answer is only an operand; a number right before it.
RELATED = _pattern(
    r"\b(?:e\.g|"
    + _any(
        "than least most of before after from with over under above below beyond near among besides exceeds? "
        "exceeding "
        "minus negative plus times twice thrice double triple half almost nearly like unlike or and vs versus such_as "
        "through until against toward to off per into"
    )
    + r")[^\w:=]*$|(?<!\w)\d[\d.,]*[\s,;|/&]*$"
)
_REACHES = _any(
    "comes? came amounts? adds?_up sums?_up equals? simplif\\w+ reduces? evaluates? leads? down lost rose fell "
    "dropped grew "
    "increased decreased out"
)
AMOUNTS_TO = _pattern(rf"\b(?:{_AMOUNT}(?:\s\w+)? of|total \w+ of|{_REACHES} to|left with)\W*$")
# How a sentence leads up to an answer with which it ends.
LEADS_UP = _pattern(
    r"(?:\b(?:(?:we|I|you|one|to)\s(?:\w+\s)?(?:gets?|got|have|finds?|found|obtains?|choose|pick|answer)|i\.e|"
    + _any(
        "is are was were be been equals? ha[sd] have gives? gave giving yields? makes? making becomes? leaves? "
        "leaving "
        "conclude totals? remain answers? results? solutions? roots? cases? sum value number probability exactly "
        "only namely "
        "about approximately roughly simply just thus so then therefore hence that now still also indeed probably "
        "actually "
        "certainly yes fact thought reflection at between of to by for in with est ist es lautet sont sind son "
        "beträgt vaut"
    )
    + r")|[是为為于=≈→⇒∈]|\\(?:approx|to|in|[rR]ightarrow|implies|equiv|therefore|sim)|\d\.?|['’]s)[^\w=]*$|^\W*$"
)
# What a sentence says of "the answer", and of a result before a colon.
OF_ANSWER = _pattern(r"([\w\s'’-]*)\banswers?\b([\w\s'’-]*)\W*$")
LABEL = _pattern(r"([\w\s'’-]*)\b(?:result|solution|total|sum|value|number)s?(\s*):\s*$")
BEFORE_ANSWER = _set(
    "the our my your this that a an final correct right exact complete required desired numerical best so thus hence "
    "therefore then and now i we think believe conclude know get have see which means gives is it follows shows as "
    "here "
    "indeed finally overall in conclusion total yes sure am are confident still also be can shown may i'm i’m "
    "actually seen "
    "together"
)
BEHIND_ANSWER = _set("is are be equals to for must should will would comes turns simply therefore thus then")
_OPEN = _any(
    "or nor but if unless when maybe perhaps possibly probably hopefully plus minus is are was were be would could "
    "might "
    "(?-i:may) should must cannot can does do did etc at_least at_most"
)
REMARK = _pattern(rf"\b{_OPEN}\b")
SIGN = compile_late(r"[,;()\[\]?!\"<>|/+&]|:(?!\d)|--|\.\.|[^\x00-\x7f\w°]|\b(?:or|but|if|unless)\b")
# The clause of a noun behind the answer: "4 years until he is tall enough".
NOUN_CLAUSE = _pattern(rf"\b{_any('until before after that who while to for from so longer as')}\b")
JOINED = _pattern(
    rf"[^\w=]*(?:{_any('and or to through till until vs versus point no by over up down too off ish give')}\b"
    rf"|{NUMBER})"
)
_PROPERTY = _any(
    "even odd prime composite positive negative divisible square cube multiple factor divisor integer less greater"
)
# What may follow an answer: its reason, what it is not, a routine ending, the modulus.
CLOSING = _pattern(
    r"\s*,?\s*(?:\(?\s*(?:since|because|weil|car|porque|因为)\b[^;]*"
    rf"|as {_any('required desired claimed expected wanted shown needed')}\W*"
    rf"|(?:and |but )?(?:not|rather than|instead of)\s+{NUMBER}\W*(?:as one might expect\W*)?"
    r"|in (?:total|all)\W*|altogether\W*|respectively\W*|\(?\\?p?mod\b.*|\\circ\W*"
    r"|(?:so|and) (?:this|that|it) (?:is correct|is right|works|holds|checks out)\W*|no (?:error|mistake) was made\W*"
    r"|(?:which )?(?:is )?(?:attained|achieved|reached|occurs) (?:at|when|for|by) [^,;:]*|\(?rounded to [^,;:()\d]*\W*"
    r"|no matter (?:how|which|what|where|when) [a-z ]*\W*"
    rf"|which is (?:(?:not|an?|also) )*{_PROPERTY}(?: than| by| of)?(?: {NUMBER})?\W*(?:in general\W*)?)\Z"
)
# The same value in another form.
AGAIN = _pattern(
    r"(?:(?:[a-z]+\s?){0,2}\W*\b(?:or|i\.e\.?|that is|which is|equivalently)(?!\w))?"
    rf"[^\w=.+-]*(?:(?:about|approximately|roughly|equivalently|equal to|in \w+)\W*)*({NUMBER})"
    r"(?:\s+(?!(?:or|and|but|not|if|plus|minus)\b)[a-z]+){0,3}\W*"
)
IN_BRACKETS = _pattern(r"\(\s*(?:in \w+|(?:or |option |i\.e\. )?([A-Z]|[-+*/^.\d\s()\\]*\d[-+*/^.\d\s()]*%?))\s*\)\W*")
_ADJECTIVE = _any(
    "final correct required desired right smallest largest least greatest only unique such maximum minimum possible "
    "positive even odd"
)
# What a sentence that begins with its answer may say of it.
IS_THE_ANSWER = _pattern(
    rf"(?:is|are)\s+(?:(?:indeed|therefore|thus|then|also)\s+)?(?:the|our|my|your)\s+(?:{_ADJECTIVE}\s+)*"
    rf"{_any('answer solution result value total number sum root amount one')}s?"
    r"(?:\s+(?:we|to the|that (?:we|works|satisf\w+)|of|asked|required|sought|looked)\b[^,;:()?]*)?"
    r"|(?!(?:or|and|if|unless|but|which|that|when|it|this)\b)(?:\w+ ){1,3}"
    r"(?:(?:are|is|were|was) (?:left|needed|possible|in total|\w+ed)|remains?)\b[^,;:()?]*"
)
_COURTESY = (
    r"(?:I )?hope (?:that )?(?:this|that|it) (?:helps|is (?:correct|clear|right)|was helpful|makes sense)"
    r"|(?:please )?(?:let me know|feel free to (?:ask|reach out)) (?:if|when) (?:you|anything) [^.\d]*"
    r"(?:questions?|help|clarification|explain\w*|explanation|steps?|details?|unclear)[^.\d]*"
    r"|if you have (?:any|more|other|further) (?:more |other |further )?questions[^.\d]*"
    r"|(?:is there any|(?:do|would) you (?:have|need|want|like))[^.\d]*|(?:confidence|difficulty)\W+[\d.]+"
    r"|thank(?:s| you)?(?: for [a-z]+(?: [a-z]+)?)?|good luck|sorry for the [\w ]*explanation|q\.?\s?e\.?\s?d"
    r"|(?:(?:thus|hence|so),? )?(?:we are )?done|end|yes"
    r"|correct|(?:this|that|it) (?:is (?:correct|right)|checks out)"
)
_VALUE = _any("solution root value answer option choice case number possibility integer pair way result total")
_THIS = rf"(?:this|that|it|the {_VALUE})"
_OTHER_VALUE = rf"[^\w-]*{NUMBER}[^\w,;:]*"
_SEEN = _any("check verify confirm see find obtain derive compute")
_BEEN_SEEN = _any("checked verified confirmed seen shown found obtained derived computed")
_WRONG = rf"{_any('wrong incorrect extraneous invalid impossible rejected excluded discarded')}(?: above| earlier)?"
_PLACE = _any("problem question exercise chapter section figure equation step example table page theorem lemma")
CHECK = _pattern(
    r"\W*(?:(?:let me|let us|let['’]s|to|we|can|now|as an?) )*"
    r"(?:double-)?(?:check|verif(?:y|ication)|confirm|substitut(?:e|ing)|plug(?:ging)?)\b"
)
# A sentence after the answer that leaves it as it is.
ASIDE = _pattern(
    rf"\W*(?:note that |actually,? )?(?:{_COURTESY}"
    # there is no other value, or another value is not the answer
    rf"|(?:there (?:is|are) )?no (?:other|further|more) (?:\w+ )?{_VALUE}s?"
    rf"(?: (?:exists?|works?|fits?|remains?|is possible|satisf\w+ [a-z ]*))?"
    rf"|(?:(?:the|a|an|with|one|for|x) (?:(?!that\b)[a-z]+,? ){{0,6}}|x = )?{_OTHER_VALUE}(?: [a-z]+)?"
    rf",? ?(?:which |that )?(?:is|are|was|were|would be) {_WRONG}(?:,? (?:because|since|as|for) [^,;:\d]*)?"
    rf"|(?:a|the|one) (?:\w+ )?(?:wrong|incorrect) {_VALUE} (?:is|would be){_OTHER_VALUE}"
    # what would be under another condition
    rf"|if (?!(?:I|you|this|that|it)\b)(?:(?!\w+ly\b)[a-z]+ )+?(?:were|had)\b(?: (?!\w*ly\b)\w+)*, (?:then )?"
    rf"(?:it|there|we|the {_VALUE}) would (?:be|get|have|become){_OTHER_VALUE}(?: [a-z]+)?"
    # how the answer is checked
    rf"|(?:you|we|one) (?:can|may|could) (?:also )?{_SEEN} {_THIS}(?: (?:with|by|from|using) [a-z ]*)?"
    rf"|{_THIS} (?:can|may|could) (?:also )?be {_BEEN_SEEN}(?: (?:with|by|from|using) [a-z ]*)?"
    rf"|(?:I|we) (?:made|find|found|see) no (?:mistake|error)s?(?: [a-z ]*)?"
    # where it stands
    rf"|(?:see|this (?:is|was)) {_PLACE} (?:no\.? )?[\d.]+(?: (?:for|of|in) [a-z ]*)?"
    r")\W*"
)
CORRECTION = _pattern(
    r"\b(?:re-?(?:check|compute|calculate|do|consider|examine)\w*|correct(?:ion|ing|ed)|hmm+|"
    + _any(
        "wait scratch_that never_mind disregard actually oops sorry second_thought on_reflection thinking_again "
        "hold_on "
        "nope mistake error wrong incorrect not_right misread warte attends espera"
    )
    + r")\b|(?:^|[.!?\n])\s*no\b(?=[,.])|等等|不对|等一下"
)
AUTHOR = compile_late(r"\b[Ll]et(?:['’]s| us)\b|\bI(?:['’]\w+|\s+[a-z])|\b[Mm]y\b|\bme\b")
# What leaves an answer open inside its mark; words in -ly are adverbs.
INSIDE = _pattern(
    r"n['’]t\b|\?|^\W*!|\b(?:(?!only|family|daily|weekly|monthly|yearly|hourly)\w{2,}ly"
    r"|or (?:so|more|less|fewer|greater|above|below|perhaps)|"
    + _any(
        "not never no nor maybe perhaps if unless when wrong incorrect false untrue give_or_take at_least at_most "
        "under "
        "above below twice half_of such_as example guess unsure i_think confidence probability ish"
    )
    + r")\b|\be\.g|\bfor\b\W*[a-zA-Z]\s?=|\dish\b|不|❌|✗"
)
UNIT_WORDS = _set("square cubic per and more total pmatrix bmatrix array cases matrix")
