"""What gives people away besides their gaze: names, dates, serial numbers, paths, ids."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_YEAR = r"(?:19|20)\d\d"
# In the languages of most studies. Short forms that are other words (set, out, ago) are left out.
_MONTH_NAME = (
    r"(?:jan(?:uary?|uari|v(?:ier)?|eiro)?|jän(?:ner)?|enero|ene|gennaio|stycznia"
    r"|feb(?:ruary?|ruari|rero|er|braio)?|f[ée]v(?:r(?:ier)?|ereiro)?|lutego"
    r"|mar(?:ch|s|zo|ço|ca)?|mär(?:z|s)?|maerz|maart|mrz|mrt|apr(?:ile?)?|avr(?:il)?|abr(?:il)?|kwietnia"
    r"|mayo?|mai|maio|mei|maja?|maggio|jun[ei]?|juin|junio|junho|giugno|czerwca"
    r"|jul[yi]?|juil(?:let)?|julio|julho|luglio|lipca|aug(?:ust(?:us|i)?)?|ao[ûu]t|agosto|sierpnia"
    r"|sep(?:t(?:ember|embre|iembre)?)?|settembre|setiembre|setembro|września"
    r"|o[ck]t(?:ober|obre)?|octubre|ott(?:obre)?|outubro|października"
    r"|nov(?:ember|embre|embro|iembre)?|listopada|d[eé][czs](?:ember|embre|embro)?|dic(?:iembre|embre)?"
    r"|grudnia)"
)
_MONTH_WORD = re.compile(rf"(?=[a-z])(?<![^\W\d_]){_MONTH_NAME}(?![^\W\d_])", re.IGNORECASE)
_GAP = r"[-._/, ]{0,3}"
_FULL_DAY = r"(?:0[1-9]|[12]\d|3[01])"
# An underline is no part of a date: many stand between others in names of files.
_DATE_BY_NAME = re.compile(
    rf"(?<![^\W_]){_DAY}(?:st|nd|rd|th|er|º)?{_GAP}(?:of |de )?"
    rf"{_MONTH_NAME}{_GAP}(?:de )?{_YEAR}(?!\d)"
    rf"|(?<![^\W_])(?:{_DAY}([-./]){_MONTH_NAME}\1|{_FULL_DAY}{_MONTH_NAME})\d\d(?![^\W_])"
    rf"|(?<![^\W_]){_YEAR}{_GAP}{_MONTH_NAME}{_GAP}{_DAY}(?!\d)"
    rf"|(?<![^\W_]){_MONTH_NAME}{_GAP}{_DAY}(?!\d)[^\n]{{0,20}}?(?<!\d){_YEAR}(?!\d)",
    re.IGNORECASE,
)

# Looked for in lines of any length: no part without a limit may begin at every letter of one.
PATTERNS: dict[str, re.Pattern[str]] = {
    "an e-mail address": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{0,190}[a-zA-Z]"),
    "a path": re.compile(
        r"(?<![\w])[A-Za-z]:[\\/](?![\\/])[^\s\"']+|\\\\[\w.-]+\\[^\s\"']+"
        r"|(?<![\w/.:])/(?:home|Users|mnt|media|data|srv|tmp|var|opt|root|Volumes)/[^\s\"']+"
    ),
    "a date": re.compile(
        # Names of XML's vocabularies, as every SVG has them, hold the days of their standards.
        rf"(?<!\d)(?<!w3\.org/)(?:19|20)\d\d([-/._]){_MONTH}\1{_DAY}(?!\d)"
        # Every Firefox calls itself Gecko/20100101.
        rf"|(?<!\d)(?<!Gecko/)(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)"
        rf"|(?<![\d.]){_DAY}([./_-]){_MONTH}\2(?:19|20)\d\d(?!\d)"
    ),
    "a time of day": re.compile(r"(?<![\d:])(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?![\d:])"),
    "a crowd worker's id": re.compile(
        # An underline is no part of an id: many stand between others in names of files.
        r"(?<![^\W_])A(?=[0-9A-Z]*\d)[0-9A-Z]{12,13}(?![^\W_])|(?<![^\W_])[0-9a-f]{24}(?![^\W_])"
    ),
    "a serial number": re.compile(
        r"(?<![^\W_])(?:serial|seriennummer|s/n)[ _-]{0,2}(?:(?:number|num|nr|no)\b\.?)?[ :#=]{1,4}"
        r"(?=[A-Z-]{0,20}\d)[A-Z0-9][A-Z0-9-]{3,40}"
        r"|(?<![^\W_])(?-i:SN)[-:# ]{0,2}\d{5,20}(?![^\W_])",
        re.IGNORECASE,
    ),
    "a unique id": re.compile(
        r"(?<![^\W_])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![^\W_])"
    ),
}

# Without one of these letters a pattern finds nothing, and need not look.
_NEEDED = {
    "an e-mail address": "@",
    "a path": "/\\",
    "a time of day": ":",
    "a unique id": "-",
}

# What the fields of headers, sidecars and tables are called: see `plain_field`.
_FIELDS: dict[str, str] = {
    "a name": """
        participantname recordingname subjectname operator experimenter versuchsleiter
        firstname lastname surname fullname forename givenname familyname middlename maidenname
        nickname initials username realname vorname nachname familienname zuname rufname geburtsname
        vorundnachname vornamenachname prenom nomdefamille nomprenom nometprenom prenomnom
        primernombre nombrecompleto nombreyapellido nombreyapellidos apellido apellidos
        primerapellido segundoapellido cognome nomeecognome nomecompleto sobrenome apelido
        primeironome voornaam achternaam familienaam roepnaam fornamn efternamn fornavn etternavn
        efternavn imie nazwisko imieinazwisko jmeno prijmeni etunimi sukunimi keresztnev vezeteknev
        soyad soyadi adisoyadi prenume имя фамилия отчество фио 姓名 名字 氏名 名前""",
    "a telephone number or address": """
        phone telephone phonenumber mobile mobilenumber address homeaddress postcode zip zipcode
        telefon telefonnummer handynummer anschrift wohnadresse adresse postleitzahl plz codepostal
        telefono direccion indirizzo adres postcodewoonplaats telefoonnummer""",
    "free text": """
        notes note comments remarks bemerkung bemerkungen anmerkung anmerkungen notizen kommentar
        kommentare commentaire commentaires remarques comentario comentarios opmerkingen""",
    "an e-mail address": "email mail emailaddress emailadresse mailadresse courriel correo",
    "an IP address": """
        ipaddress ipaddr ipadresse adresseip direccionip indirizzoip ipadres clientip remoteip
        userip remoteaddr""",
    "a personal number": """
        studentid studentnumber studentnummer matriculationnumber matrikelnummer matrikelnr
        matrikel matrnr employeeid personalnummer patientid ssn socialsecuritynumber nationalid
        sozialversicherungsnummer svnr passportnumber ausweisnummer""",
    "a date or time of day": """
        date recordingdate recordingdateutc recordingstarttime recordingstarttimeutc exportdate
        starttimeutc acqtime acquisitiontime acquisitiondate acquisitiondatetime birthdate birthday
        dateofbirth dob datum geburtsdatum geburtstag datedenaissance fechadenacimiento
        datadinascita geboortedatum""",
    "a serial number": """
        serial serialnumber deviceserialnumber cameraconfig stationname hardwareserialnumber""",
    "where a file came from": "convertedfrom inputfile sourcefile recordedby",
    "a crowd worker's id": "workerid prolificpid prolificid assignmentid",
    "a precise recording length": "recordingduration numberofsamples",
}
# What is called so in a tracker's header or a list of people is about a person.
_NAME_WORDS = frozenset({"name", "nom", "nombre", "nome", "naam", "namn", "navn", "nev", "nimi"})
_PERSONAL = {
    **dict.fromkeys(_NAME_WORDS, "a name"),
    "subject": "a name",
    "description": "free text",
    "comment": "free text",
}
# Columns beside which a mere name is a participant's, and not that of a picture.
_OF_PEOPLE = {
    *("age", "alter", "eta", "edad", "leeftijd", "idade", "alder", "sex", "gender", "geschlecht"),
    *("sexe", "sexo", "sesso", "genere", "genero", "geslacht", "kon", "kjonn", "handedness"),
}
# What a browser tells every page. Beside the size of its screen, even a mere "Chrome" singles out.
_BROWSER = {"browser", "browsername", "browserversion", "navigator", "useragent"}
_SCREEN = {
    *("screen", "screensize", "screenresolution", "screenwidth", "screenheight", "resolution"),
    *("window", "windowsize", "windowwidth", "windowheight", "displayresolution", "width"),
    *("viewport", "viewportsize", "viewportwidth", "viewportheight", "innerwidth", "innerheight"),
    *("devicepixelratio", "height"),
}
USER_AGENT = re.compile(r"Mozilla/\d\.\d|Opera/\d|\b(?:Chrome|Firefox|Safari)/\d{1,4}\.\d")

# What participants are called in English and German: VP is a Versuchsperson, TN a Teilnehmer.
_CODE = re.compile(
    r"(?:p|pp|ppt|ptp|pt|s|sub|subj|subject|participant|person|u|user|anon|id|vp|vpn|proband|pb|pbn|"
    r"tn|teilnehmer)?[-_ ]?\d{1,5}",
    re.IGNORECASE,
)
_TAKE = re.compile(
    r"(?:r|rec|recording|run|trial|t|s|ses|session|part|block|round|rate)?\d{0,5}", re.IGNORECASE
)
# No field has a longer name, and what brackets hold is looked for from each of them.
_LONGEST_FIELD = 1000
_LONGEST_IP = 45
# Milliseconds since 1970, from 2001 to 2033: what clocks show, and hardly a tracker counts up to.
_CLOCK_MS = (1e12, 2e12)
# Columns of times, by their names; those that are surely no counter of a tracker.
_TIME_FIELD = re.compile(r"time|clock|stamp|start|begin|end|onset|offset|^ts?$|_ts?$|^t_")
_DATE_FIELD = re.compile(r"unix|utc|epoch|date|created|submitted|recorded|completed|_at$")
# Trackers that count microseconds do not count in smaller steps than these.
_LONGEST_STEP_S = 100.0
_LOOKED_AT, _FEWEST_DAYS = 1000, 3
_YYYYMMDD = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\.0+)?")

# Parts of the names of files. No name is longer, wherever it comes from.
_LONGEST_FILE_NAME, _SHORTEST_WORD = 1000, 3
# Digits that are a day, with or without a time; or a clock's seconds or milliseconds.
_STAMP = re.compile(
    r"[A-Za-z]{0,20}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
    r"(?:T?(?:[01]\d|2[0-3])(?:[0-5]\d){1,2})?Z?|1\d{9}|1\d{12}"
    r"|(?:(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))"
    r"(?:19[3-9]\d|20[0-4]\d)"
)
_SHORT_DAY = re.compile(
    r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])[0-3]\d|[0-3]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
)
# Numbers that others can look up: of students, employees, patients. They have six digits that count
# or more; leading zeros belong to them if they make seven (01234567, s0123456). What has fewer is
# filled up: 0042, 000123 and sub-001 count what a study has, and say as little as 42, 123 and 1.
_LONG_NUMBER = re.compile(r"[A-Za-z]{0,3}(?=\d{7})0{0,3}[1-9]\d{5,15}|[A-Za-z]{1,3}[1-9]\d{5}")
_HEX = re.compile(r"(?=[0-9]*[a-fA-F])(?=[a-fA-F]*[0-9])[0-9a-fA-F]{16,128}")
_MIXED = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[0-9A-Za-z]{10,128}")
# What counts something: P01S02, session1trial12.
_COUNTERS = re.compile(
    r"(?:(?:p{1,2}|s|sub|subj|subject|participant|person|user|vp|ses|sess|session|r|run|rec|"
    r"recording|ppt|tn|t|tr|trial|task|b|bl|block|c|cond|condition|v|ver|version|i|img|image|vid|video|q|"
    r"item|part|page|text|day|d|e|exp|n|no|id|g|group|l|level|m|f|k|list|set|w|h|x|y|z|hz|px|ms)"
    r"[0-9]{1,4}){1,12}[a-z]{0,12}",
    re.IGNORECASE,
)
# Names of pictures and films are those of stimuli, which are often long numbers.
_OF_STIMULI = re.compile(
    r"\.(?:png|jpe?g|gif|bmp|tiff?|svg|webp|mp4|avi|mov|mkv|webm|wav|mp3)$", re.I
)


LEAK, WARNING = "leak", "warning"


@dataclass(frozen=True)
class Finding:
    """One leak, or a warning.

    Attributes:
        where: the file, and the line, column or field in it.
        what: what kind of thing it is.
        value: the thing itself, cut short; for the owner's eyes.
        remedy: what ``convert`` does about it.
        severity: `LEAK`, or `WARNING` for what is to be judged: it singles participants out, and
            may be wanted.
    """

    where: str
    what: str
    value: str
    remedy: str
    severity: str = LEAK


def leaks_in_text(text: str) -> Iterator[tuple[str, str]]:
    """What a piece of free text gives away: kinds and the words.

    >>> list(leaks_in_text("converted from C:/IDF/ann.idf on 03.08.2009"))
    [('a path', 'C:/IDF/ann.idf'), ('a date', '03.08.2009')]
    >>> list(leaks_in_text("Serial number SN0043217, serial positions 12 to 14"))
    [('a serial number', 'Serial number SN0043217')]
    """
    for what, pattern in PATTERNS.items():
        needed = _NEEDED.get(what)
        if needed is not None and not any(letter in text for letter in needed):
            continue
        for found in pattern.finditer(text):
            yield what, found[0]
        if what == "a date" and _MONTH_WORD.search(text):
            for found in _DATE_BY_NAME.finditer(text):
                yield what, found[0]


def leaks_in_name(name: str) -> Iterator[tuple[str, str]]:
    """What the name of a file or folder gives away: kinds and the parts of it.

    Numbers of participants, recordings and tasks are none: see `is_code`.

    >>> list(leaks_in_name("A2MJ8CN0P4XQ1Z_task.json"))
    [("a crowd worker's id", 'A2MJ8CN0P4XQ1Z')]
    >>> list(leaks_in_name("smith_050723.asc")), list(leaks_in_name("s1234567.csv"))
    ([('a date', '050723')], [('what may be a personal number', 's1234567')])
    >>> list(leaks_in_name("ann_3-Mar-2021.csv")), list(leaks_in_name("01234567.csv"))
    ([('a date', '3-Mar-2021')], [('what may be a personal number', '01234567')])
    >>> list(leaks_in_name("sub-03_task-reading_run-1.tsv")), list(leaks_in_name("P1_R2.csv"))
    ([], [])
    """
    # Some systems take letters and their accents apart.
    name = unicodedata.normalize("NFC", name[:_LONGEST_FILE_NAME])
    found = list(leaks_in_text(name))
    yield from found
    known = " ".join(value for _, value in found)
    of_stimulus = _OF_STIMULI.search(name) is not None
    words = re.findall(r"[0-9A-Za-z]+", re.sub(r"\.[A-Za-z]\w{0,9}$", "", name))
    # Six digits by themselves are any number; beside a name or another word they are a day.
    beside_word = any(len(word) >= _SHORTEST_WORD and word.isalpha() for word in words)
    for word in words:
        if word in known:
            continue
        what = "a date" if beside_word and _SHORT_DAY.fullmatch(word) else _kind_of_word(word)
        if what is not None and not (of_stimulus and what in (_PERSONAL_NUMBER, _UNIQUE)):
            yield what, word


_PERSONAL_NUMBER, _UNIQUE = "what may be a personal number", "a unique id"


def _kind_of_word(word: str) -> str | None:
    """What a part of a file name is, between whatever is neither a letter nor a digit."""
    if _STAMP.fullmatch(word):
        return "a date or time of day"
    if _LONG_NUMBER.fullmatch(word):
        return _PERSONAL_NUMBER
    if _HEX.fullmatch(word):
        return _UNIQUE
    if _MIXED.fullmatch(word) and not _COUNTERS.fullmatch(word):
        changes = len(re.findall(r"(?<=[A-Za-z])\d|(?<=\d)[A-Za-z]", word))
        # Words with a number have one or two: letters and digits at random change all the time.
        if changes >= 3 and 3 * changes >= len(word):
            return _UNIQUE
    return None


def plain_field(name: str) -> str:
    """The name of a field in lower case letters alone, without accents, units and numbers.

    >>> plain_field("Prénom (1)"), plain_field("** SERIAL NUMBER")
    ('prenom', 'serialnumber')
    """
    begin = re.sub(r"\(.*?\)|\[.*?\]", "", name[:_LONGEST_FIELD].lower())
    return re.sub(r"[\W\d_]", "", unicodedata.normalize("NFKD", begin))


_OF_FIELD = {plain_field(field): what for what in _FIELDS for field in _FIELDS[what].split()}
_WHOSE = re.compile(r"^(?:participant|subject|person|user|patient|proband|teilnehmer|vp|child)s?")


def leak_of_field(name: str, *, personal: bool = False) -> str | None:
    """What a field of that name gives away, if anything.

    Args:
        name: of the field.
        personal: whether the field is one of a person or a recording, where a mere name is
            a person's.

    >>> leak_of_field("** SERIAL NUMBER"), leak_of_field("Apellidos"), leak_of_field("x")
    ('a serial number', 'a name', None)
    """
    plain = plain_field(name)
    known = _OF_FIELD.get(plain) or (_PERSONAL.get(plain) if personal else None)
    return known or _OF_FIELD.get(_WHOSE.sub("", plain, count=1))


def names_in_table(columns: Iterable[str]) -> frozenset[str]:
    """The columns of a table that hold mere names, where other columns are of participants.

    >>> sorted(names_in_table(["nom", "âge"])), sorted(names_in_table(["nom", "x", "y"]))
    (['nom'], [])
    """
    plain = {column: plain_field(column) for column in columns}
    if not any(word in _OF_PEOPLE or _OF_FIELD.get(word) == "a name" for word in plain.values()):
        return frozenset()
    return frozenset(column for column, word in plain.items() if word in _NAME_WORDS)


def browser_and_screen(fields: Iterable[str]) -> list[str]:
    """The fields that tell of a browser and its screen, if there are both.

    >>> browser_and_screen(["browser", "screen.width", "rt"]), browser_and_screen(["screen_width"])
    (['browser', 'screen.width'], [])
    """
    plain = {field: plain_field(field) for field in fields}
    browser = [field for field, word in plain.items() if word in _BROWSER]
    screen = [field for field, word in plain.items() if word in _SCREEN]
    return [*browser, *screen] if browser and screen else []


def is_user_agent(field: str, text: str) -> bool:
    """Whether a text is what a browser tells of itself: its make, version and system.

    >>> is_user_agent("a", "Mozilla/5.0 (X11; Linux x86_64)"), is_user_agent("user_agent", "x")
    (True, True)
    """
    return "useragent" in plain_field(field) or USER_AGENT.search(text) is not None


def is_ip_address(text: str) -> bool:
    """Whether a whole cell is the address of a computer in the world's network.

    >>> is_ip_address("84.112.5.7"), is_ip_address("1.2.3.4"), is_ip_address("192.168.0.12")
    (True, False, False)
    """
    if len(text) > _LONGEST_IP or (text.count(".") != 3 and text.count(":") < 2):
        return False
    # Versions and numbers of chapters have as many parts, of a digit or two.
    if ":" not in text and not re.search(r"\d{3}|\d\d\.\d\d", text):
        return False
    try:
        return ipaddress.ip_address(text).is_global
    except ValueError:
        return False


def is_code(person: str) -> bool:
    """Whether a person's name is a mere number, such as P01 or sub-3, and so nobody's name.

    >>> is_code("P01"), is_code("sub-3"), is_code("17"), is_code("ann")
    (True, True, True, False)
    """
    return _CODE.fullmatch(person) is not None


def is_pseudonym(person: str) -> bool:
    """Whether a name looks like the pseudonyms that eyelid gives.

    >>> is_pseudonym("anon01"), is_pseudonym("ann")
    (True, False)
    """
    return re.fullmatch(r"anon\d+", person) is not None


def are_plain_takes(
    recordings: Iterable[str], known: Iterable[str], *, numbers: bool = True
) -> bool:
    """Whether the names of all recordings say no more than their numbers, tasks or stimuli.

    Args:
        recordings: their names.
        known: the names of tasks and stimuli, read once for all of them.
        numbers: whether numbers say nothing, because everybody has the same.

    >>> are_plain_takes(["comic-2"], ["comic"]), are_plain_takes(["ann_smith"], ["comic"])
    (True, False)
    """
    return next(telling_takes(recordings, known, numbers=numbers), None) is None


def telling_takes(
    recordings: Iterable[str], known: Iterable[str], *, numbers: bool = True
) -> Iterator[str]:
    """The names of recordings that say more than their numbers, tasks or stimuli.

    Args:
        recordings: their names.
        known: as for `are_plain_takes`.
        numbers: as for `are_plain_takes`.
    """
    words = {word.lower() for name in known for word in _words(name)}

    def is_plain(recording: str) -> bool:
        if all(word.lower() in words for word in _words(recording)):
            return True
        if not numbers or any(leaks_in_text(recording)):
            return False
        return is_code(recording) or all(
            _TAKE.fullmatch(word) or word.lower() in words for word in _words(recording)
        )

    return (name for name in recordings if not is_plain(name))


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[-_ .]+", name) if word]


def is_clock(values: pl.Series, *, seconds: bool = False) -> bool:
    """Whether times count from 1970, in ms, µs or ns, so that they tell the day and the hour.

    Args:
        values: of which the first is looked at.
        seconds: whether they may be seconds; other clocks run as far.

    >>> is_clock(pl.Series([1.7e12])), is_clock(pl.Series([5000.0]))
    (True, False)
    """
    numbers = values.cast(pl.Float64, strict=False).drop_nulls()
    if numbers.is_empty():
        return bool(len(values)) and any(leaks_in_text(str(values[0])))
    units = [1e-6, 1e-3, 1.0] + [1e3] * seconds
    return any(_CLOCK_MS[0] <= float(numbers[0]) * ms < _CLOCK_MS[1] for ms in units)


def is_clock_column(name: str, values: pl.Series) -> bool:
    """Whether a column of numbers tells days or times of day.

    That is so of milliseconds, microseconds and nanoseconds since 1970 under any name, of seconds
    where the name says so or the steps are those of seconds, and of days like 20230705.

    Args:
        name: of the column.
        values: some of its values, as text or numbers, in their order.

    >>> is_clock_column("t", pl.Series([1689081190.123, 1689081190.14]))
    True
    >>> is_clock_column("Time", pl.Series([1689081190, 1689085357]))  # a tracker's microseconds
    False
    """
    numbers = values.cast(pl.Float64, strict=False).drop_nulls()
    numbers = numbers.filter(numbers.is_finite())
    if numbers.is_empty():
        return False
    plain = name[:_LONGEST_FIELD].lower()
    if is_clock(numbers.head(1)):
        return True
    texts = values.cast(pl.String).drop_nulls()
    if all(_YYYYMMDD.fullmatch(text) for text in texts.head(_LOOKED_AT)):
        return _DATE_FIELD.search(plain) is not None or len(texts.unique()) >= _FEWEST_DAYS
    if not numbers.is_between(_CLOCK_MS[0] / 1e3, _CLOCK_MS[1] / 1e3).all():
        return False
    if _DATE_FIELD.search(plain):
        return True
    if not _TIME_FIELD.search(plain):
        return False
    steps = numbers.unique().sort().diff().drop_nulls()
    return bool((numbers != numbers.floor()).any()) or bool(
        len(steps) and (steps.median() or 0.0) <= _LONGEST_STEP_S  # type: ignore[operator]
    )


def short(value: str, length: int = 60) -> str:
    """A value as it is shown in a finding."""
    one_line = " ".join(value.split())
    return one_line if len(one_line) <= length else one_line[: length - 1] + "…"
