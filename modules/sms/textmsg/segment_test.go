package textmsg

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/linxGnu/gosmpp/data"
	"github.com/warthog618/sms"
)

func TestCount(t *testing.T) {
	t.Parallel()
	emoji := "😀" // two UTF-16 code units
	for name, c := range map[string]struct {
		text     string
		encoding Encoding
		parts    int
	}{
		"empty":                                {"", GSM7, 1},
		"160 septets":                          {strings.Repeat("a", 160), GSM7, 1},
		"161 septets":                          {strings.Repeat("a", 161), GSM7, 2},
		"306 septets, which is two times 153":  {strings.Repeat("a", 306), GSM7, 2},
		"307 septets":                          {strings.Repeat("a", 307), GSM7, 3},
		"80 euro signs, which are 160 septets": {strings.Repeat("€", 80), GSM7, 1},
		"81 euros":                             {strings.Repeat("€", 81), GSM7, 2},
		"an escape pair that would be split at 153": {strings.Repeat("a", 152) + "€" + strings.Repeat("a", 152), GSM7, 3},
		"70 units":                     {strings.Repeat("д", 70), UCS2, 1},
		"71 units":                     {strings.Repeat("д", 71), UCS2, 2},
		"35 emoji, which are 70 units": {strings.Repeat(emoji, 35), UCS2, 1},
		"36 emoji":                     {strings.Repeat(emoji, 36), UCS2, 2},
		"a surrogate pair that would be split at 67":            {strings.Repeat("д", 66) + emoji + strings.Repeat("д", 66), UCS2, 3},
		"one character outside GSM makes the whole text UTF-16": {strings.Repeat("a", 70) + "ё", UCS2, 2},
		"a grave accent is not a GSM character":                 {"`", UCS2, 1},
		"ç is not a GSM character, Ç is":                        {"ç", UCS2, 1},
		"line breaks":                                           {"a\r\nb\fc", GSM7, 1},
		"bytes that are not UTF-8":                              {"a\xff\xfe", UCS2, 1},
	} {
		if encoding, parts := Count(c.text); encoding != c.encoding || parts != c.parts {
			t.Errorf("Count of %s = %s, %d parts; want %s, %d", name, encoding, parts, c.encoding, c.parts)
		}
	}
}

// alphabets are the characters that random texts consist of.
var alphabets = map[string][]rune{
	"GSM":                          []rune(basic),
	"GSM with its extension table": []rune(basic + strings.Repeat(extension, 5)),
	"UTF-16 without surrogates":    []rune("aбвгд漢字かな" + extension),
	"UTF-16 with surrogates":       []rune("aбв😀🚀👩‍💻漢"),
}

func randomText(r *rand.Rand, from []rune) string {
	out := make([]rune, r.IntN(900))
	for i := range out {
		out[i] = from[r.IntN(len(from))]
	}
	return string(out)
}

// The library splits texts as handsets expect, following TS 23.040.
func TestPartsMatchReferenceLibrary(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(16, 5))
	for name, alphabet := range alphabets {
		for range 400 {
			text := randomText(r, alphabet)
			if text == "" {
				continue // the library returns no parts, but a provider sends one
			}
			want, err := sms.Encode([]byte(text))
			if err != nil {
				t.Fatalf("%s: the reference library rejected %q: %v", name, text, err)
			}
			if encoding, got := Count(text); got != len(want) {
				t.Errorf("%s: %d parts in %s, want %d as in the reference library, for %q", name, got, encoding,
					len(want), text)
			}
		}
	}
}

// Parts are encoded for SMPP as gosmpp encodes them. gosmpp counts characters instead of UTF-16 code units, so texts
// with surrogates are excluded.
func TestPartsMatchSMPP(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(16, 6))
	for name, alphabet := range alphabets {
		if strings.Contains(name, "with surrogates") {
			continue
		}
		for range 200 {
			text := randomText(r, alphabet)
			encoding, parts := Split(text)
			if len(parts) < 2 {
				continue
			}
			codec, _ := data.GSM7BITPACKED.(data.Splitter)
			encode := data.GSM7BITPACKED.Encode
			if encoding == UCS2 {
				codec, _ = data.UCS2.(data.Splitter)
				encode = data.UCS2.Encode
			}
			want, err := codec.EncodeSplit(text, 134)
			if err != nil {
				t.Fatalf("%s: gosmpp rejected %q: %v", name, text, err)
			}
			if len(want) != len(parts) {
				t.Fatalf("%s: %d parts, want %d as in gosmpp, for %q", name, len(parts), len(want), text)
			}
			for i, part := range parts {
				got, err := encode(part)
				if err != nil || !isSamePart(encoding, part, got, want[i]) {
					t.Errorf("%s: part %d is %x, %v; gosmpp has %x", name, i, got, err, want[i])
				}
			}
		}
	}
}

// isSamePart reports whether an encoded part equals that of gosmpp. Septets start at the next septet boundary after
// the header, which leaves one padding bit before them. The last byte may contain padding too.
func isSamePart(encoding Encoding, part string, encoded, smpp []byte) bool {
	if encoding == UCS2 {
		return bytes.Equal(encoded, smpp)
	}
	_, size := encodingOf(part)
	bits := func(octets []byte, skip uint) *big.Int {
		reversed := slices.Clone(octets)
		slices.Reverse(reversed)
		all := new(big.Int).SetBytes(reversed)
		text := new(big.Int).Lsh(big.NewInt(1), uint(7*size))
		return all.Rsh(all, skip).Mod(all, text)
	}
	return bits(encoded, 0).Cmp(bits(smpp, 1)) == 0
}

func FuzzSplit(f *testing.F) {
	for _, text := range []string{"", "hello", strings.Repeat("€", 200), strings.Repeat("😀", 200), "a\xff",
		strings.Repeat("a", 152) + "€"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		encoding, parts := Split(text)
		if strings.Join(parts, "") != text {
			t.Fatalf("joined parts of %q are %q", text, strings.Join(parts, ""))
		}
		has := rooms[encoding]
		most := has.alone
		if len(parts) > 1 {
			most = has.joined
		}
		for i, part := range parts {
			size := 0
			for _, r := range part {
				size += encoding.width(r)
			}
			if encoding == UCS2 && utf8.ValidString(part) {
				size = len(utf16.Encode([]rune(part)))
			}
			if size > most || part == "" && len(parts) > 1 {
				t.Errorf("part %d of %q has %d units in %s, want 1 to %d", i, text, size, encoding, most)
			}
		}
	})
}
