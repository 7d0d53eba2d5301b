package body

import "github.com/danielgtaylor/huma/v2"

// MailboxFields is a mailbox in a request: either Text, as written, or Email and Name.
type MailboxFields interface {
	~struct{ Text, Email, Name string }
}

// Mailbox reads an address: a string, or an object {email, name?}.
func Mailbox[M MailboxFields](to *M) Type { return mailbox[M]{to} }

type mailbox[M MailboxFields] struct{ to *M }

func (t mailbox[M]) Read(d *Decoder, path string, v Value) {
	var b struct{ Text, Email, Name string }
	switch v.Kind() {
	case KindString:
		b.Text = v.Text()
	case KindObject:
		mailboxObject(&b.Email, &b.Name).Read(d, path, v)
	default:
		d.Refuse(path, "must be a string or an object {email, name}, not %s", v.Kind())
	}
	*t.to = M(b)
}

func mailboxObject(email, name *string) Object {
	return Object{Fields: []Field{
		{Name: "email", Type: Text(email), Need: RequiredByService, About: "The address, without a display name.", Example: "ada@example.com"},
		{Name: "name", Type: Text(name), About: "The display name."},
	}}
}

func (mailbox[M]) Schema(c Components) *huma.Schema {
	return c.OneOf("Mailbox", "An email address, with or without a display name.",
		&huma.Schema{Type: huma.TypeString, Description: "`a@b`, or `Name <a@b>`.",
			Examples: []any{"Ada <ada@example.com>"}},
		c.Ref("NamedMailbox", func() *huma.Schema { return mailboxObject(new(string), new(string)).Schema(c) }))
}

// Mailboxes reads one address or an array of them.
func Mailboxes[M MailboxFields](to *[]M) Type { return mailboxes[M]{to} }

type mailboxes[M MailboxFields] struct{ to *[]M }

func (t mailboxes[M]) Read(d *Decoder, path string, v Value) {
	switch v.Kind() {
	case KindArray:
		List(t.to, Mailbox[M]).Read(d, path, v)
	case KindString, KindObject:
		*t.to = make([]M, 1)
		Mailbox(&(*t.to)[0]).Read(d, path, v)
	default:
		d.Refuse(path, "must be a string or an array of strings, not %s", v.Kind())
	}
}

func (mailboxes[M]) Schema(c Components) *huma.Schema {
	one := Mailbox(new(M)).Schema(c)
	return c.OneOf("Mailboxes", "One email address, or an array of them.", one, ArrayOf(one))
}
