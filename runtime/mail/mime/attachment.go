package mime

import (
	"errors"
	"fmt"
	stdmime "mime"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFileName is in characters: the limit of file systems.
const maxFileName = 255

// ValidateFileName validates the name of an attachment. The name is sent as a label; receivers do not treat
// it as a path.
func ValidateFileName(name string) error {
	switch {
	case !utf8.ValidString(name):
		return errors.New("is not valid UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("has a control character")
	case utf8.RuneCountInString(name) > maxFileName:
		return fmt.Errorf("is longer than %d characters", maxFileName)
	}
	return nil
}

// ParseContentID accepts an id with or without angle brackets and returns it without. Empty stays empty.
func ParseContentID(id string) (string, error) {
	if inner, ok := strings.CutPrefix(id, "<"); ok {
		if id, ok = strings.CutSuffix(inner, ">"); !ok || id == "" {
			return "", errors.New("has an unclosed angle bracket")
		}
	}
	if len(id) > 250 {
		return "", errors.New("is longer than 250 characters")
	}
	for _, c := range id {
		if c <= ' ' || c > '~' || strings.ContainsRune("<>\"\\()", c) {
			return "", fmt.Errorf("has %q, which is not allowed", c)
		}
	}
	return id, nil
}

// ValidateContentType validates the declared type of an attachment.
func ValidateContentType(contentType string) error {
	_, _, err := parseContentType(contentType)
	return err
}

// parseContentType normalizes a declared type so that it cannot break out of its field. Types that may not
// be base64 (RFC 2046 sections 5.1 and 5.2.1), and which a receiver would parse as a part of this message,
// become application/octet-stream, except for message/rfc822: see attachMessage.
func parseContentType(declared string) (string, []param, error) {
	if len(declared) > 500 {
		return "", nil, errors.New("is longer than 500 characters")
	}
	if strings.ContainsFunc(declared, unicode.IsControl) {
		return "", nil, errors.New("has a control character")
	}
	contentType, values, err := stdmime.ParseMediaType(declared)
	if err != nil || !strings.Contains(contentType, "/") {
		return "", nil, errors.New("is not a media type")
	}
	if needsEncoding(contentType) || strings.ContainsAny(contentType, " \t;\"") {
		return "", nil, errors.New("is not a media type")
	}
	if contentType == messageType {
		return contentType, nil, nil
	}
	if strings.HasPrefix(contentType, "multipart/") || strings.HasPrefix(contentType, "message/") {
		return "application/octet-stream", nil, nil
	}
	var params []param
	for name, value := range values {
		if name == "name" || !isAtom(name) || strings.ContainsAny(name, "*'%") {
			continue
		}
		if strings.ContainsFunc(value, unicode.IsControl) || !utf8.ValidString(value) {
			return "", nil, errors.New("is not a media type")
		}
		params = append(params, param{name, value})
	}
	slices.SortFunc(params, func(a, b param) int { return strings.Compare(a.name, b.name) })
	return contentType, params, nil
}

// param is a parameter of a Content field.
type param struct{ name, value string }

// plainParam reports whether a value fits into a quoted string on one line and cannot be mistaken for
// encoded words.
func plainParam(value string) bool {
	return len(value) <= 60 && !needsEncoding(value) && !strings.ContainsAny(value, "\t") &&
		!strings.Contains(value, "=?")
}

// writeParams writes parameters. Those that are not plain are written in the form of RFC 2231, split into
// numbered pieces if they are long.
func (w *writer) writeParams(params []param) {
	for _, p := range params {
		w.b.WriteByte(';')
		w.column++
		switch {
		case isToken(p.value):
			w.writeWord(" ", p.name+"="+p.value)
		case plainParam(p.value):
			w.writeWord(" ", p.name+`="`+quoteEscaper.Replace(p.value)+`"`)
		default:
			w.writeExtended(p)
		}
	}
}

// isToken matches token of RFC 2045 section 5.1, limited to characters that are never quoted.
func isToken(s string) bool {
	for i := range len(s) {
		if !qSafe(s[i]) && s[i] != '.' && s[i] != '_' || s[i] == '/' {
			return false
		}
	}
	return s != "" && len(s) <= 60
}

func (w *writer) writeExtended(p param) {
	const room = 50
	var pieces []string
	piece := "utf-8''"
	for _, r := range p.value {
		encoded := percentEncode(string(r))
		if len(piece)+len(encoded) > room {
			pieces = append(pieces, piece)
			piece = ""
		}
		piece += encoded
	}
	pieces = append(pieces, piece)
	if len(pieces) == 1 {
		w.writeWord(" ", p.name+"*="+piece)
		return
	}
	for i, piece := range pieces {
		if i < len(pieces)-1 {
			piece += ";"
		}
		w.writeWord(" ", p.name+"*"+strconv.Itoa(i)+"*="+piece)
	}
}

// percentEncode keeps attribute-char of RFC 2231 section 7.
func percentEncode(s string) string {
	b := make([]byte, 0, 3*len(s))
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("!#$&+-.^_`{|}~", c) >= 0 {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b)
}

// TypeByName returns the media type for a file name. It uses its own table, because the standard library's
// depends on the machine.
func TypeByName(name string) string {
	if contentType, ok := types[strings.ToLower(path.Ext(name))]; ok {
		return contentType
	}
	return "application/octet-stream"
}

var types = map[string]string{
	".txt": "text/plain", ".log": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".htm": "text/html", ".html": "text/html",
	".css": "text/css", ".xml": "application/xml", ".json": "application/json", ".yaml": "application/yaml", ".yml": "application/yaml",
	".ics": "text/calendar", ".vcf": "text/vcard", ".pdf": "application/pdf", ".rtf": "application/rtf", ".eml": "message/rfc822",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml",
	".bmp": "image/bmp", ".tif": "image/tiff", ".tiff": "image/tiff", ".ico": "image/x-icon", ".heic": "image/heic", ".avif": "image/avif",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".m4a": "audio/mp4", ".mp4": "video/mp4", ".mov": "video/quicktime",
	".webm": "video/webm", ".avi": "video/x-msvideo", ".zip": "application/zip", ".gz": "application/gzip", ".tar": "application/x-tar",
	".7z": "application/x-7z-compressed", ".doc": "application/msword", ".xls": "application/vnd.ms-excel", ".ppt": "application/vnd.ms-powerpoint",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".odt":  "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
	".odp": "application/vnd.oasis.opendocument.presentation", ".p7s": "application/pkcs7-signature", ".asc": "application/pgp-signature",
}
