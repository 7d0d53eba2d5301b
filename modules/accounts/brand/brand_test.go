package brand

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// newPNG returns a PNG of a given size, filled with noise if the file must be large.
func newPNG(t *testing.T, width, height int, noise bool) []byte {
	t.Helper()
	canvas := image.NewGray(image.Rect(0, 0, width, height))
	if noise {
		for i := range canvas.Pix {
			canvas.Pix[i] = byte(rand.IntN(256))
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, canvas); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// newPNGClaiming returns a small PNG whose header claims another size.
func newPNGClaiming(t *testing.T, width, height uint32) []byte {
	t.Helper()
	file := newPNG(t, 1, 1, false)
	const header = 8 + 4 // the signature, and the length of the first chunk
	binary.BigEndian.PutUint32(file[header+4:], width)
	binary.BigEndian.PutUint32(file[header+8:], height)
	binary.BigEndian.PutUint32(file[header+4+13:], crc32.ChecksumIEEE(file[header:header+4+13]))
	return file
}

func TestSetBrandReplacesAllFields(t *testing.T) {
	t.Parallel()
	s := New(dbtest.New(t))
	const ours, theirs = "acc_01kf0m4w7he6x8q2v5b3n9c1ta", "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
	logo := newPNG(t, 120, 40, false)
	for _, step := range []struct{ set, want Brand }{
		{Brand{Name: " Acme ", Color: "#1F5FBF", Logo: logo}, Brand{Name: "Acme", Color: "#1f5fbf", Logo: logo}},
		{Brand{Name: "Acme"}, Brand{Name: "Acme"}},
		{Brand{}, Brand{}},
	} {
		stored, err := s.SetBrand(t.Context(), ours, step.set)
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.Brand(t.Context(), ours)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []Brand{stored, found} {
			if diff := cmp.Diff(step.want, got, cmpopts.IgnoreFields(Brand{}, "UpdatedAt"),
				cmpopts.EquateEmpty()); diff != "" || got.UpdatedAt.IsZero() {
				t.Errorf("after setting %+v, the brand of %v differs: %s", step.set, got.UpdatedAt, diff)
			}
		}
	}
	if other, err := s.Brand(t.Context(), theirs); err != nil || !cmp.Equal(other, Brand{}) {
		t.Errorf("the brand of another account is %+v (%v), want none", other, err)
	}
}

func TestConcurrentSetBrandStoresOneOfThem(t *testing.T) {
	t.Parallel()
	s := New(dbtest.New(t))
	const ours = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	colors := []string{"#111111", "#222222", "#333333", "#444444"}
	var wait sync.WaitGroup
	for _, color := range colors {
		wait.Go(func() {
			if _, err := s.SetBrand(t.Context(), ours, Brand{Name: color, Color: color}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	found, err := s.Brand(t.Context(), ours)
	if err != nil || found.Name != found.Color || !slices.Contains(colors, found.Color) {
		t.Errorf("the brand is %+v (%v), want one of those that were set", found, err)
	}
}

func TestInvalidBrandReportsEveryField(t *testing.T) {
	t.Parallel()
	s := New(dbtest.New(t))
	whole := newPNG(t, 64, 64, true)
	for name, c := range map[string]struct {
		brand  Brand
		fields []string
	}{
		"name of two lines":       {Brand{Name: "Acme\r\nBcc: x"}, []string{"name"}},
		"name too long":           {Brand{Name: strings.Repeat("x", 1000)}, []string{"name"}},
		"name in Latin-1":         {Brand{Name: "M\xfcnchen"}, []string{"name"}},
		"named color":             {Brand{Color: "red"}, []string{"color"}},
		"color with three digits": {Brand{Color: "#fff"}, []string{"color"}},
		"color and style":         {Brand{Color: "#ffffff}*{display:none"}, []string{"color"}},
		"color of two lines":      {Brand{Color: "#ffffff\n"}, []string{"color"}},
		"logo as text":            {Brand{Logo: []byte("<svg onload=alert(1)>")}, []string{"logo"}},
		"logo as GIF":             {Brand{Logo: []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00")}, []string{"logo"}},
		"logo too large":          {Brand{Logo: newPNG(t, 300, 300, true)}, []string{"logo"}},
		"logo too wide":           {Brand{Logo: newPNG(t, MaxLogoSide+1, 1, false)}, []string{"logo"}},
		"logo too high":           {Brand{Logo: newPNG(t, 1, MaxLogoSide+1, false)}, []string{"logo"}},
		"logo with a false size":  {Brand{Logo: newPNGClaiming(t, 60_000, 60_000)}, []string{"logo"}},
		"logo cut off":            {Brand{Logo: whole[:len(whole)/2]}, []string{"logo"}},
		"everything is wrong":     {Brand{Name: "\x00", Color: "x", Logo: []byte("x")}, []string{"color", "logo", "name"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s.SetBrand(t.Context(), "acc_01kf0m4w7he6x8q2v5b3n9c1ta", c.brand)
			f := fault.Classify(err)
			var got []string
			for field := range f.Fields {
				got = append(got, field)
			}
			slices.Sort(got)
			if f.Kind != fault.Invalid || !slices.Equal(got, c.fields) {
				t.Errorf("got the error %v for the fields %v, want %v", err, got, c.fields)
			}
		})
	}
}
