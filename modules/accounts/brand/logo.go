package brand

import (
	"bytes"
	"image/png"

	"github.com/postrider/postrider/runtime/base/fault"
)

// What a logo may be.
const (
	MaxLogo     = 64 << 10 // octets
	MaxLogoSide = 1024     // pixels
)

// checkLogo reads the whole picture, so that what is shown is one. The size that its header tells
// is judged before: a small file can unfold to gigabytes.
func checkLogo(wrong fault.Fields, field string, logo []byte) {
	if len(logo) == 0 {
		return
	}
	if len(logo) > MaxLogo {
		wrong.Add(field, "has %d octets, and may have %d", len(logo), MaxLogo)
		return
	}
	size, err := png.DecodeConfig(bytes.NewReader(logo))
	if err != nil {
		wrong.Add(field, "is no PNG")
		return
	}
	if size.Width > MaxLogoSide || size.Height > MaxLogoSide {
		wrong.Add(field, "is %d x %d pixels, and may be %d x %d", size.Width, size.Height, MaxLogoSide, MaxLogoSide)
		return
	}
	if _, err := png.Decode(bytes.NewReader(logo)); err != nil {
		wrong.Add(field, "is a PNG that cannot be read to its end")
	}
}
