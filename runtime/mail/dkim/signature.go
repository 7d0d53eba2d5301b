package dkim

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
)

// lineWidth is the width at which the field is folded (RFC 5322 section 2.1.1).
const lineWidth = 76

// unsignedField returns the field with an empty b=. It folds only where the tag-list syntax allows white space.
func (s Signer) unsignedField(algorithm string, names []string, bodyHash [sha256.Size]byte) field {
	b := make([]byte, 0, 1024)
	b = append(b, "DKIM-Signature: v=1; a="...)
	b = append(b, algorithm...)
	b = append(b, "; c=relaxed/relaxed;\r\n d="...)
	b = append(b, s.Domain...)
	b = append(b, "; s="...)
	b = append(b, s.Selector...)
	b = append(b, ';')
	if !s.Time.IsZero() {
		b = append(b, " t="...)
		b = strconv.AppendInt(b, s.Time.Unix(), 10)
		b = append(b, ';')
	}
	b = append(b, "\r\n h="...)
	column := len(" h=")
	for i, name := range names {
		if column+len(name)+1 > lineWidth {
			b = append(b, "\r\n  "...)
			column = 2
		}
		b = append(b, name...)
		end := byte(':')
		if i == len(names)-1 {
			end = ';'
		}
		b = append(b, end)
		column += len(name) + 1
	}
	b = append(b, "\r\n bh="...)
	b = base64.StdEncoding.AppendEncode(b, bodyHash[:])
	b = append(b, ";\r\n b="...)
	return field{name: b[:len("DKIM-Signature")], raw: b}
}

// appendSignature completes the field: white space inside b= is insignificant.
func appendSignature(b, signature []byte) []byte {
	encoded := base64.StdEncoding.EncodeToString(signature)
	room := lineWidth - len(" b=")
	for len(encoded) > room {
		b = append(b, encoded[:room]...)
		b = append(b, "\r\n  "...)
		encoded = encoded[room:]
		room = lineWidth - 2
	}
	b = append(b, encoded...)
	return append(b, "\r\n"...)
}
