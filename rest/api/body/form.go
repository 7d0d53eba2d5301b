package body

import (
	"encoding/json"
	"time"

	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Formed is implemented by types whose values can be written in several ways with the same meaning. Resources can
// implement it too.
type Formed interface {
	Form() *idempotency.Form
}

// Form describes which bodies are equal under an idempotency key.
func (o Object) Form() *idempotency.Form {
	fields := map[string]*idempotency.Field{}
	for _, f := range o.Fields {
		field := &idempotency.Field{Name: f.Name, Form: formOf(f.Type), DefaultUnless: f.DefaultUnless}
		if f.Default != nil {
			field.Default = encodeDefault(f.Default)
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

// encodeDefault returns the canonical form of a default.
func encodeDefault(value any) string {
	encoded, err := json.Marshal(value)
	if err == nil {
		encoded, err = idempotency.CanonicalBody(encoded, nil)
	}
	if err != nil {
		panic("body: a default cannot be encoded: " + err.Error())
	}
	return string(encoded)
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

// Form treats a null display name as omitted.
func (mailbox[M]) Form() *idempotency.Form { return mailboxObject(new(string), new(string)).Form() }

// Form treats a single address as a list of one.
func (mailboxes[M]) Form() *idempotency.Form {
	form := Mailbox(new(M)).(mailbox[M]).Form()
	form.OneOrMany = true
	return form
}
