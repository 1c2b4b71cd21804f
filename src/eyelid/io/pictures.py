"""Pictures that people looked at, as their files have them."""

from __future__ import annotations

import struct
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError

Picture = NDArray[np.uint8]

MOST_PX = 100_000_000
_AT_MOST = f"at most {MOST_PX // 1_000_000} million px are read, scale it down"
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")


def read_picture(path: Path) -> Picture:
    """A picture file as (height, width, 3), the right way up, what is transparent over white.

    Args:
        path: PNG, JPEG, GIF (its first picture), BMP, TIFF or WebP.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    with warnings.catch_warnings():
        # What a file says about itself beside its pixels is of no matter here.
        warnings.simplefilter("ignore")
        try:
            with Image.open(path, formats=_FORMATS) as image:
                _check_size(path, *image.size)
                upright = ImageOps.exif_transpose(image)
                return _in_colours(path, upright)
        except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
            raise InputError(f"cannot open the picture {path}: {error.strerror}") from error
        except UnidentifiedImageError as error:
            raise InputError(
                f"{path} is no picture that can be read: give a PNG, JPEG, GIF, BMP, TIFF or WebP"
            ) from error
        except Image.DecompressionBombError as error:
            raise InputError(f"the picture {path} is far too large: {_AT_MOST}") from error
        except (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error) as error:
            raise InputError(
                f"the picture {path} is cut off or damaged ({error}): copy or save it again"
            ) from error


def _check_size(path: Path, width: int, height: int) -> None:
    if width < 1 or height < 1 or width * height > MOST_PX:
        raise InputError(f"the picture {path} says it is {width:,} × {height:,} px: {_AT_MOST}")


def _in_colours(path: Path, image: Any) -> Picture:
    """Three bytes a pixel, from whatever kinds of pixel a file has."""
    from PIL import Image

    if image.mode == "F":
        raise InputError(f"the picture {path} has floating-point pixels: save it with 8 bits")
    if image.mode.startswith("I"):
        # Sixteen bits: the upper eight.
        grey = np.clip(np.asarray(image, dtype=np.int64) >> 8, 0, 255).astype(np.uint8)
        return np.repeat(grey[:, :, None], 3, axis=2)
    if image.has_transparency_data:
        over = image.convert("RGBA")
        white = Image.new("RGBA", over.size, "white")
        image = Image.alpha_composite(white, over)
    return np.asarray(image.convert("RGB"), dtype=np.uint8)
