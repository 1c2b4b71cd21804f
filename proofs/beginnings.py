"""Small simulated files, one of each format that eyelid reads, and hostile ones, for the fuzz."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import polars as pl


@dataclass(frozen=True)
class Beginning:
    """A file to be damaged.

    Attributes:
        kind: of the file.
        content: before it is damaged.
        name: of the file, where it lies in a folder.
        beside: the other files of that folder; none where the file is read alone.
    """

    kind: str
    content: bytes
    name: str = ""
    beside: Mapping[str, bytes] = field(default_factory=dict)


def beginnings() -> Iterator[Beginning]:
    """One of each kind, as its vendor or eyelid writes it."""
    for name, text in _TEXTS.items():
        yield Beginning(name, text.lstrip("\n").encode())
    rows = pl.DataFrame({"person": ["a", "a"], "time_ms": [0.0, 1.0], "x": [1.0, 2.0]})
    rows = rows.with_columns(y=pl.col("x"))
    yield Beginning("parquet", _parquet(rows))
    yield Beginning("gzip", gzip.compress(_TEXTS["table"].lstrip("\n").encode(), mtime=0))
    yield Beginning("lund2013", _mat({"ETdata": _LUND}))
    subjects = np.empty(2, dtype=object)
    for number in range(2):
        subjects[number] = {"fix_x": [1.0, 2.0], "fix_y": [3.0, 4.0], "fix_duration": [200, 180]}
    images = np.empty((1, 1), dtype=object)
    images[0, 0] = {"img": "1001.jpg", "subjects": subjects}
    yield Beginning("osie", _mat({"fixations": images}))
    samples = [{"time_ms": i, "gaze": {"x": 1.0, "y": 2.0}, "px": [3, 4]} for i in range(3)]
    yield Beginning("json", json.dumps({"participant": "a", "samples": samples}).encode())
    yield Beginning("json lines", "\n".join(map(json.dumps, samples)).encode())
    cell = json.dumps(samples).replace('"', '""')
    yield Beginning("json in cells", f'"participant","n","gaze"\n"a","1","{cell}"\n'.encode())
    yield Beginning("npz", _npz(map=np.arange(6.0), text=np.array("words")))
    yield from _in_folders(rows)


def _in_folders(rows: pl.DataFrame) -> Iterator[Beginning]:
    """What stands beside recordings and says how to read them."""
    table = b"P,t,x,y\na,0,1,2\na,1,1,2\n"
    listed = {
        "P1.csv": table,
        "people.csv": b"person,age\na,3\n",
        "names.csv": b"file,task\nP1.csv,b\n",
    }
    text = _MAP.lstrip("\n").encode()
    yield Beginning("map", text, "map.toml", listed | {"map.toml": b""})
    yield Beginning("people", listed["people.csv"], "people.csv", listed | {"map.toml": text})
    yield Beginning("names", listed["names.csv"], "names.csv", listed | {"map.toml": text})
    rows = rows.select("person", pl.lit("1").alias("recording"), "time_ms", "x", "y")
    about = {
        "schema": "eyelid/study/1",
        "kind": "samples",
        "units": "px",
        "screen": {"width_px": 9},
    }
    study = {
        "study.json": json.dumps(about, indent=1).encode(),
        "people.csv": b"person,age\na,3\n",
        "data.parquet": _parquet(rows),
    }
    for name in ("study.json", "people.csv"):
        yield Beginning(f"study folder, {name}", study[name], name, study)


def hostile_beginnings() -> Iterator[Beginning]:
    """Files made to take long or to become large, of each kind."""
    for name, text in _TEXTS.items():
        first, _, rest = text.lstrip("\n").encode().partition(b"\n")
        lines = rest.split(b"\n")
        for long in _LONG_LINES:
            yield Beginning(name, b"\n".join([first, lines[0], long, *lines[1:]]))
        # Wide, deep in quotes, and of many lines.
        yield Beginning(name, b"\n".join([first * 200, *[line * 200 for line in lines]]))
        yield Beginning(name, first + b"\n" + b'"' * 50_000 + rest)
        yield Beginning(name, first + b"\n" + rest * 400)
        yield Beginning(name, _bomb(first + b"\n" + rest))
    # The same zeros in every column, so that they take no memory before they are read.
    zeros = pl.repeat(0.0, 1 << 22, eager=True)
    for columns in (1, 64):
        names = ["time_ms", "x", "y", *(f"label_{number}" for number in range(columns))]
        yield Beginning("parquet", _parquet(pl.DataFrame({name: zeros for name in names})))
    text = pl.DataFrame({"person": ["a" * (1 << 27)], "time_ms": [0.0], "x": [0.0], "y": [0.0]})
    yield Beginning("parquet", _parquet(text))
    wide = pl.DataFrame({f"column {number}": [0.0] for number in range(12_000)})
    yield Beginning("parquet", _parquet(wide))
    yield Beginning(
        "lund2013", _mat({"ETdata": _LUND | {"pos": np.zeros((1 << 20, 6))}}, packed=True)
    )
    yield Beginning("npz", _npz(map=np.zeros(1 << 24)))
    for shape in ("(10**12,)", "(999999999999999999999,)", "(-1,)", "()" * 500):
        yield Beginning("npz", _npy_that_says(shape))
    for deep in (
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"kind": "samples", "screen": ' + b"[" * 99_999,
    ):
        yield Beginning(
            "study folder, study.json", deep, "study.json", {"people.csv": b"person\na\n"}
        )
    table = {"P1.csv": b"P,t,x,y\na,0,1,2\na,1,1,2\n"}
    plain = _MAP.lstrip("\n").encode()
    for said in _HOSTILE_MAPS:
        yield Beginning("map", said + plain, "map.toml", table)
    aaa = {"a" * 200 + ".csv": table["P1.csv"]}
    for pattern in (b"*a" * 24 + b"b", b"{person}" * 40, b"{person}*{task}*{person}*{task}b"):
        yield Beginning("map", plain + b'file = "' + pattern + b'"\n', "map.toml", aaa)
    asc = {
        "P1.asc": _TEXTS["eyelink"]
        .lstrip("\n")
        .replace("MSG\t100", "MSG\t100 " + "a" * 9000)
        .encode()
    }
    for pattern in (b"(a+)+$", b"(a|a)*$", b"(.*)*x", b"a{999}{999}", b"(?=a)"):
        yield Beginning("map", b'[columns]\nstimulus = "msg:' + pattern + b'"\n', "map.toml", asc)


_LONG_LINES = [
    piece * (200_000 // len(piece))
    for piece in (b"a", b",", b"\t", b";", b" ", b"(", b"a@", b"1 ", b"MSG ", b"** ", b"1.", b"\\")
]
_HOSTILE_MAPS = [
    b'people = "/etc/passwd"\n',
    b'names = "../../../etc/passwd"\n',
    b"skip_lines = 1e300\n",
    b"skip_lines = 900000\n",
    b'glob = "' + b"*a" * 2000 + b'"\n',
    b'separator = ""\n',
    b'separator = "' + b"," * 9000 + b'"\n',
    b"a = " + b"[" * 90_000 + b"\n",
    b"a." * 20_000 + b"a = 1\n",
    b"rate_hz = " + b"9" * 20_000 + b"\n",
]
_MAP = """
units = "px"
time_unit = "ms"
people = "people.csv"
names = "names.csv"
[columns]
person = "P"
time = "t"
x = "x"
y = "y"
"""
_LUND: dict[str, object] = {
    "pos": np.column_stack([np.arange(4) * 2000.0, *np.ones((4, 4)), [1, 1, 2, 2]])
    .T[[0, 1, 2, 3, 4, 4]]
    .T,
    "screenDim": [0.38, 0.3],
    "screenRes": [1024, 768],
    "viewDist": 0.67,
    "sampFreq": 500,
}


def _bomb(begin: bytes) -> bytes:
    """A small gzipped file that begins like a recording and becomes many times as large."""
    return gzip.compress(begin, mtime=0) + _zeros()


@cache
def _zeros(mebibytes: int = 64) -> bytes:
    worker = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [worker.compress(b"0" * (1 << 20)) for _ in range(mebibytes)]
    return b"".join([*parts, worker.flush()])


def _parquet(table: pl.DataFrame) -> bytes:
    packed = io.BytesIO()
    table.write_parquet(packed)
    return packed.getvalue()


def _npz(**arrays: np.ndarray) -> bytes:
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
    return packed.getvalue()


def _npy_that_says(shape: str) -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("map.npy", content)
    return packed.getvalue()


def _mat(content: dict[str, object], *, packed: bool = False) -> bytes:
    from scipy.io import savemat

    made = io.BytesIO()
    savemat(made, content, do_compression=packed)
    return made.getvalue()


_TEXTS = {
    "eyelink": """
** CONVERTED FROM a.edf using edfapi
** DATE: Wed Jan  7 09:25:20 2026
**
MSG\t100 DISPLAY_COORDS 0 0 1279 1023
START\t100 \tLEFT\tRIGHT\tSAMPLES\tEVENTS
PUPIL\tAREA
EVENTS\tGAZE\tLEFT\tRIGHT\tRATE\t 500.00\tTRACKING\tCR\tFILTER\t2
SAMPLES\tGAZE\tLEFT\tRIGHT\tRATE\t 500.00\tTRACKING\tCR\tFILTER\t2
100\t  64.3\t  41.5\t  28.0\t  60.5\t  38.8\t  35.0\t.....
SFIX L   102
102\t  64.4\t  41.4\t  28.0\t  60.4\t  38.9\t  35.0\t.....
104\t   .\t   .\t   0.0\t  60.4\t  38.9\t  35.0\t.....
EFIX L   102\t104\t4\t  64.3\t  41.4\t     28
ESACC R  102\t104\t4\t  60.5\t  38.8\t  60.4\t  38.9\t 0.3\t  40
END\t106 \tSAMPLES\tEVENTS\tRES\t  47.75\t  45.92
""",
    "eyelink-mono": """
** TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED
START\t100 \tLEFT\tSAMPLES\tEVENTS
SAMPLES\tGAZE\tLEFT\tRATE\t1000.00\tTRACKING\tCR\tFILTER\t2\tVEL\tRES
100\t 64.3\t 41.5\t 28.0\t 1.5\t 1.8\t 35.0\t 35.1\t...
101\t 64.3\t 41.5\t 28.0\t 1.5\t 1.8\t 35.0\t 35.1\t...
END\t102 \tSAMPLES
""",
    "tobii-sdk": """
Time\tLEyePos3dx\tLEyePos3dy\tLEyePos3dz\tLEyePos3dRelx\tLEyePos3dRely\tLEyePos3dRelz\tLGazePos2dx\tLGazePos2dy\tLGazePos3dx\tLGazePos3dy\tLGazePos3dz\tLPupilDm\tLValidity\tREyePos3dx\tREyePos3dy\tREyePos3dz\tREyePos3dRelx\tREyePos3dRely\tREyePos3dRelz\tRGazePos2dx\tRGazePos2dy\tRGazePos3dx\tRGazePos3dy\tRGazePos3dz\tRPupilDm\tRValidity\tRelTimestamp
1000\t0\t0\t0\t0\t0\t0\t0.5\t0.5\t0\t0\t0\t3.1\t0\t0\t0\t0\t0\t0\t0\t0.5\t0.5\t0\t0\t0\t3.2\t0\t0.0
4333\t0\t0\t0\t0\t0\t0\t-1.0\t-1.0\t0\t0\t0\t-1\t4\t0\t0\t0\t0\t0\t0\t0.5\t0.5\t0\t0\t0\t3.2\t0\t3.333
""",
    "tobii-pro-lab": """
Recording timestamp [ms]\tSensor\tParticipant name\tRecording name\tGaze point X\tGaze point Y\tPupil diameter left [mm]\tEye movement type\tGaze event duration\tEye movement type index
0\tEye Tracker\tP1\tRecording 1\t100\t200\t3,1\tFixation\t200\t1
17\tEye Tracker\tP1\tRecording 1\t101\t201\t3,1\tFixation\t200\t1
33\tEye Tracker\tP1\tRecording 1\t\t\t\tEyesNotFound\t16\t1
""",
    "tobii-pro-lab-fixations": """
Recording timestamp\tSensor\tParticipant name\tRecording name\tEye movement type\tGaze event duration\tEye movement type index\tFixation point X\tFixation point Y
1051981650\tEye Tracker\tY1\tRecording 16\tFixation\t922\t1681\t962\t647
1052981650\tEye Tracker\tY1\tRecording 16\tFixation\t122\t1682\t902\t640
""",
    "pupil-cloud": """
timestamp [ns],gaze x [px],gaze y [px],fixation id,blink id,azimuth [deg],elevation [deg]
2518586951,673.1,371.3,1,,-9.3,15.4
2523586951,668.3,366.7,1,,-9.6,15.7
2528586951,678.0,369.0,,2,-8.9,15.6
""",
    "pupil-player": """
gaze_timestamp,world_index,confidence,norm_pos_x,norm_pos_y,base_data
100.5,0,0.9,0.5,0.4,100.5-0
100.505,0,0.2,0.6,0.4,100.505-0
""",
    "smi": """
## [iView]
## Date:\t07.01.2026 11:50:02
## Sample Rate:\t50
## Calibration Area:\t1024\t768
## Stimulus Dimension [mm]:\t300\t200
## Head Distance [mm]:\t800
##
Time\tType\tTrial\tL Raw X [px]\tL Raw Y [px]\tL Dia X [px]\tL Dia Y [px]\tL POR X [px]\tL POR Y [px]\tTiming
2152080664\tMSG\t1\t# Message: cups.bmp
2152092084\tSMP\t1\t212.15\t75.65\t33.39\t26.98\t10.00\t20.00\t0
2152112047\tSMP\t1\t212.28\t75.82\t32.90\t27.77\t0.00\t0.00\t0
""",
    "begaze": """
Event Start Trial Time [ms],Event End Trial Time [ms],Stimulus,Participant,Category,AOI Name
0,100,Map_A,P1,Fixation,Region_1
100,120,Map_A,P1,Saccade,-
120,200,Map_A,P1,Fixation,Region_2
""",
    "gazepoint": """
MEDIA_ID,MEDIA_NAME,TIME(2026/01/07 09:21:09.801),FPOGX,FPOGY,FPOGS,FPOGD,FPOGID,FPOGV,BPOGX,BPOGY,BPOGV,AOI,
0,page,0.01,0.5,0.5,0.0,0.01,1,1,0.51,0.52,1,a,
0,page,0.02,0.5,0.5,0.0,0.02,1,1,0.51,0.52,0,a,
1,other,0.01,0.5,0.5,0.0,0.02,2,1,0.51,0.52,1,,
""",
    "arff": """
%@METADATA distance_mm 450.0
%@METADATA width_mm 400.0
%@METADATA height_mm 225.0
%@METADATA width_px 1280.0
%@METADATA height_px 720.0
@RELATION gaze_recording

@ATTRIBUTE time INTEGER
@ATTRIBUTE x NUMERIC
@ATTRIBUTE y NUMERIC
@ATTRIBUTE confidence NUMERIC
@ATTRIBUTE handlabeller1 {unassigned,fixation,saccade,sp,noise}

@DATA
1000,416.9,188.0,1.0,fixation
5000,417.0,188.1,0.0,saccade
""",
    "arff-360": """
@RELATION gaze_360
%@METADATA width_px 3840.0
%@METADATA height_px 2160.0
@ATTRIBUTE time INTEGER
@ATTRIBUTE x NUMERIC
@ATTRIBUTE y NUMERIC
@ATTRIBUTE confidence NUMERIC
@ATTRIBUTE x_head NUMERIC
@ATTRIBUTE y_head NUMERIC
@ATTRIBUTE angle_deg_head NUMERIC
@DATA
0,1900.0,1000.0,1.0,1920.0,1080.0,0.0
8000,1901.0,1001.0,1.0,1920.0,1080.0,1.0
""",
    "coord": """
# Gaze file
gaze 1280 720
geometry distance 0.45 width 0.4 height 0.225
34000 768.2 263.2 1
38000 768.9 263.7 0
""",
    "mpiidpeye": """
0.440790;0.438680;15828.286379;0.459427;138.328445
0.441939;0.440579;15828.319261;0.640312;137.576691
0.441939;0.440579;15828.352261;0.640312;137.576691
""",
    "gazebase": """
n,x,y,val,dP,lab,xT,yT
0,-16.03,5.90,0,3198,1,NaN,NaN
1,-16.04,5.90,0,3196,2,NaN,NaN
""",
    "gazebasevr": """
n,x,y,lx,ly,rx,ry,xT,yT,zT,clx,cly,clz,crx,cry,crz
0.0,0.7,-4.9,3.5,-4.3,-2.0,-5.1,0.0,0.0,0.4,-0.03,0.0,-0.02,0.03,0.0,-0.03
3.9,0.7,-4.9,3.7,-4.7,-2.0,-5.4,0.0,0.0,0.4,-0.03,0.0,-0.02,0.03,0.0,-0.03
""",
    "judo1000": """
trialId\tpointId\ttime\tx_left\ty_left\tx_right\ty_right
1\t1\t8005274\t649.5\t531.1\t640.6\t529.1
1\t1\t8005275\t649.8\t533.2\t639.7\t528.9
""",
    "dataviewer": """
RECORDING_SESSION_LABEL,TRIAL_INDEX,CURRENT_FIX_X,CURRENT_FIX_Y,CURRENT_FIX_PUPIL,CURRENT_FIX_DURATION
msd001,1,59.8,125.4,1430.0,220
msd001,1,348.7,182.0,1375.0,126
""",
    "copco": """
part,trialId,speechId,paragraphId,sentenceId,wordId,word,char_IA_ids,landing_position,word_first_fix_dur,word_first_pass_dur,word_go_past_time,word_mean_fix_dur,word_total_fix_dur,number_of_fixations,word_mean_sacc_dur,word_peak_sacc_velocity
1,11,7905,0,612,0,I,[1],,,,,,,0,,
1,11,7905,0,612,1,word,"[2, 3]",3.0,120.0,380.0,380.0,240.0,720.0,3,27.6,182.09
""",
    "table": """
person,recording,time_ms,x,y,pupil,label_event
ann,1,0,10.5,20.5,3.1,fixation
ann,1,16,10.5,,3.1,saccade
bob,1,0,10.5,20.5,3.1,
""",
    "table-of-two-eyes": """
participant;time_ms;x_left;y_left;x_right;y_right
1;0;10,5;20,5;10,6;20,6
1;16;10,5;;10,6;20,6
""",
}
