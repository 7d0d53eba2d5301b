package body

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Formed is implemented by types whose values can be written in several ways with the same meaning. Resources can
// implement it too.
type Formed interface {
	Form() *idempotency.Form
}

// Form describes which bodies count as equal for an idempotency key.
func (o Object) Form() *idempotency.Form {
	fields := map[string]*idempotency.Field{}
	for _, f := range o.Fields {
		field := &idempotency.Field{Name: f.Name, Form: formOf(f.Type), DefaultUnless: f.DefaultUnless}
		if f.Default != nil {
			field.Default = string(encodeCanonical(f.Default))
		}
		field.Omits = o.omittedTokens(&f)
		if f.Means != "" {
			field.Name = f.Means
		}
		for _, name := range f.Names() {
			fields[name] = field
		}
	}
	return &idempotency.Form{Fields: fields}
}

// encodeCanonical returns the canonical form of a value of this program.
func encodeCanonical(value any) []byte {
	encoded, err := json.Marshal(value)
	if err == nil {
		encoded, err = idempotency.CanonicalBody(encoded, nil)
	}
	if err != nil {
		panic("body: a value cannot be encoded: " + err.Error())
	}
	return encoded
}

func formOf(t Type) *idempotency.Form {
	if formed, is := t.(Formed); is {
		return formed.Form()
	}
	return nil
}

// Form returns the form of the items.
func (t ListType[T, K]) Form() *idempotency.Form { return formOf(t.of(new(T))) }

// Form returns the form of the value.
func (t pointerType[T, K]) Form() *idempotency.Form { return formOf(t.of(new(T))) }

// Form treats an object without fields as omitted.
func (anyObject) Form() *idempotency.Form { return &idempotency.Form{OmitEmpty: true} }

// Form treats times as equal if they are the same instant.
func (moment) Form() *idempotency.Form { return &idempotency.Form{Text: canonicalTime} }

func canonicalTime(text string) string {
	at, err := parseTime(text)
	if err != nil {
		return text
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// Form treats an address as equal in both notations: "Ada <ada@example.com>" and {email, name}.
func (mailbox[M]) Form() *idempotency.Form {
	form := mailboxObject(new(string), new(string)).Form()
	form.Rewrite = rewriteMailbox
	return form
}

// rewriteMailbox returns an address in the form of a string. It does not change values that are not addresses, which
// are refused later.
func rewriteMailbox(value []byte) []byte {
	if isPlainAddress(value) {
		return value
	}
	var text string
	var parsed address.Address
	err := json.Unmarshal(value, &text)
	if err == nil {
		parsed, err = address.Parse(text)
	} else {
		var parts struct {
			Name  string `json:"name"`
			Email string `json:"email"`
		}
		decoder := json.NewDecoder(bytes.NewReader(value))
		decoder.DisallowUnknownFields()
		if err = decoder.Decode(&parts); err == nil {
			parsed, err = address.New(parts.Name, parts.Email)
		}
	}
	if err != nil {
		return value
	}
	return encodeCanonical(parsed.String())
}

// isPlainAddress reports whether a canonical value is an address without a name in lower case, as most are: there is
// no shorter notation of it.
func isPlainAddress(value []byte) bool {
	if len(value) < 2 || value[0] != '"' {
		return false
	}
	for _, c := range value[1 : len(value)-1] {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '@' && c != '.' && c != '-' && c != '+' && c != '_' {
			return false
		}
	}
	return !bytes.Contains(value, []byte("xn--"))
}

// Form treats a single address as a list of one.
func (mailboxes[M]) Form() *idempotency.Form {
	form := Mailbox(new(M)).(mailbox[M]).Form()
	form.OneOrMany = true
	return form
}
