package brand

import (
	"bytes"
	"image/png"

	"github.com/postrider/postrider/runtime/base/fault"
)

// The limits of a logo.
const (
	MaxLogo     = 64 << 10 // bytes
	MaxLogoSide = 1024     // pixels
)

// checkLogo decodes the whole image to ensure that the file is a PNG. It checks the size in the header first,
// because a small file can expand to gigabytes.
func checkLogo(wrong fault.Fields, field string, logo []byte) {
	if len(logo) == 0 {
		return
	}
	if len(logo) > MaxLogo {
		wrong.Add(field, "has %d bytes; it cannot have more than %d", len(logo), MaxLogo)
		return
	}
	size, err := png.DecodeConfig(bytes.NewReader(logo))
	if err != nil {
		wrong.Add(field, "must be a PNG image")
		return
	}
	if size.Width > MaxLogoSide || size.Height > MaxLogoSide {
		wrong.Add(field, "has %d x %d pixels; it cannot have more than %d x %d", size.Width, size.Height, MaxLogoSide,
			MaxLogoSide)
		return
	}
	if _, err := png.Decode(bytes.NewReader(logo)); err != nil {
		wrong.Add(field, "must be a complete PNG image")
	}
}
