package bimi

import (
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"strings"
)

// logotypeDetails is LogotypeDetails of RFC 3709 section 4.1.
type logotypeDetails struct {
	MediaType string `asn1:"ia5"`
	Hashes    asn1.RawValue
	URIs      []asn1.RawValue
}

const (
	subjectLogo  = 2 // tag of the subject's logo in the extension
	directImage  = 0 // tag of data in the certificate itself, as opposed to a reference
	base64Prefix = "data:image/svg+xml;base64,"
)

var (
	errLogotype    = errors.New("its logotype extension is malformed")
	errNotEmbedded = errors.New("the logo is not embedded")
)

// embeddedLogo returns the logo in a logotype extension, decompressed.
func embeddedLogo(extension []byte) ([]byte, error) {
	var all, subject, data, images, first asn1.RawValue
	if rest, err := asn1.Unmarshal(extension, &all); err != nil || len(rest) > 0 || all.Tag != asn1.TagSequence {
		return nil, errLogotype
	}
	for rest := all.Bytes; ; {
		var err error
		if len(rest) == 0 {
			return nil, errors.New("its logotype extension has no logo of the subject")
		}
		if rest, err = asn1.Unmarshal(rest, &subject); err != nil {
			return nil, errLogotype
		}
		if subject.Class == asn1.ClassContextSpecific && subject.Tag == subjectLogo {
			break
		}
	}
	if _, err := asn1.Unmarshal(subject.Bytes, &data); err != nil || data.Class != asn1.ClassContextSpecific {
		return nil, errLogotype
	}
	if data.Tag != directImage {
		return nil, errNotEmbedded
	}
	if _, err := asn1.Unmarshal(data.Bytes, &images); err != nil || images.Tag != asn1.TagSequence {
		return nil, errLogotype
	}
	if _, err := asn1.Unmarshal(images.Bytes, &first); err != nil {
		return nil, errLogotype
	}
	var details logotypeDetails
	if _, err := asn1.Unmarshal(first.Bytes, &details); err != nil || len(details.URIs) == 0 {
		return nil, errLogotype
	}
	return decodeURI(string(details.URIs[0].Bytes))
}

// decodeURI returns the data of a data: URI (RFC 2397) with base64, decompressed.
func decodeURI(uri string) ([]byte, error) {
	encoded, found := strings.CutPrefix(uri, base64Prefix)
	if !found {
		return nil, errNotEmbedded
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("its base64 is invalid")
	}
	if data, err = decompress(data, maxLogo); err != nil {
		return nil, errors.New("its compressed data is invalid or too large")
	}
	return data, nil
}
