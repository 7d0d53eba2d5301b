package devinbox

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/message"
)

// shownSource is the number of bytes of a message's source that its page shows.
const shownSource = 256 << 10

type messagePage struct {
	frame
	Mail      *ent.CapturedMail
	From      string
	Subject   string
	Received  string
	Size      string
	Link      string
	View      string // html, text, headers, source
	Views     []view
	Text      string
	Headers   []message.Field
	Signature *signature
	Source    string
	Cut       bool // Source is incomplete
	Files     []file
	Problems  []string
}

type view struct{ Name, Label, Link string }

type file struct {
	Name, Type, Size, Link string
	Inline                 bool
}

// signature contains the tags of a DKIM-Signature field (RFC 6376 section 3.5).
type signature struct{ Domain, Selector, Algorithm string }

func (p *pages) showMessage(w http.ResponseWriter, r *http.Request) error {
	mail, parsed, err := p.openMail(r)
	if err != nil {
		return err
	}
	subject := orElse(mail.Subject, "(no subject)")
	page := messagePage{frame: newFrame(subject), Mail: mail, From: orElse(mail.From, mail.MailFrom), Subject: subject,
		Received: mail.ReceivedAt.UTC().Format(time.RFC1123), Size: formatBytes(int64(mail.Size)),
		Link: linkTo(mail.ID), Text: parsed.Text,
		Headers: parsed.Header, Signature: signatureOf(parsed), Problems: parsed.Defects}
	for i, part := range parsed.Files {
		page.Files = append(page.Files,
			file{Name: nameOf(part, i), Type: part.ContentType, Size: formatBytes(part.Size), Inline: part.Inline,
				Link: fmt.Sprintf("%s/files/%d", page.Link, i)})
	}
	if parsed.HTML != "" {
		page.addView("html", "HTML")
	}
	if parsed.Text != "" || parsed.HTML == "" {
		page.addView("text", "Text")
	}
	page.addView("headers", "Headers")
	page.addView("source", "Source")
	page.chooseView(r.URL.Query().Get("view"))
	if page.View == "source" {
		shown := mail.Raw[:min(len(mail.Raw), shownSource)]
		page.Source, page.Cut = strings.ToValidUTF8(string(shown), "\uFFFD"), len(shown) < len(mail.Raw)
	}
	return render(w, messageTemplate, page)
}

func (m *messagePage) addView(name, label string) {
	m.Views = append(m.Views, view{name, label, m.Link + "?view=" + name})
}

// chooseView returns the requested view, or the first one.
func (m *messagePage) chooseView(name string) {
	m.View = m.Views[0].Name
	for _, v := range m.Views {
		if v.Name == name {
			m.View = name
		}
	}
}

func (p *pages) loadMail(r *http.Request) (*ent.CapturedMail, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return nil, fault.NoSuch("captured mail", strings.ToValidUTF8(r.PathValue("id"), "\uFFFD"))
	}
	return p.inbox.Get(r.Context(), id)
}

func (p *pages) openMail(r *http.Request) (*ent.CapturedMail, *message.FullMessage, error) {
	mail, err := p.loadMail(r)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := readMail(mail)
	return mail, parsed, err
}

// readMail parses an email.
func readMail(mail *ent.CapturedMail) (*message.FullMessage, error) {
	parsed, err := message.ReadFull(bytes.NewReader(mail.Raw), message.Bounds{Contents: len(mail.Raw) + 1})
	if err != nil {
		return nil, fmt.Errorf("parse captured mail %d: %w", mail.ID, err)
	}
	return parsed, nil
}

func signatureOf(m *message.FullMessage) *signature {
	field := m.Get("DKIM-Signature")
	if field == "" {
		return nil
	}
	tags := map[string]string{}
	for tag := range strings.SplitSeq(field, ";") {
		name, value, _ := strings.Cut(tag, "=")
		tags[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return &signature{Domain: tags["d"], Selector: tags["s"], Algorithm: tags["a"]}
}

func nameOf(part message.File, i int) string {
	return orElse(part.Filename, fmt.Sprintf("part-%d", i+1))
}

func formatBytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
	}
}

// showSource returns the message as it was received.
func (p *pages) showSource(w http.ResponseWriter, r *http.Request) error {
	mail, err := p.loadMail(r)
	if err != nil {
		return err
	}
	return sendDownload(w, "message/rfc822", fmt.Sprintf("%d.eml", mail.ID), mail.Raw)
}

// sendFile returns an attachment as a download. It is untrusted, so it is never shown.
func (p *pages) sendFile(w http.ResponseWriter, r *http.Request) error {
	_, parsed, err := p.openMail(r)
	if err != nil {
		return err
	}
	i, err := strconv.Atoi(r.PathValue("file"))
	if err != nil || i < 0 || i >= len(parsed.Files) {
		return fault.NoSuch("attachment", strings.ToValidUTF8(r.PathValue("file"), "\uFFFD"))
	}
	part := parsed.Files[i]
	return sendDownload(w, part.ContentType, nameOf(part, i), parsed.Contents[i])
}

func sendDownload(w http.ResponseWriter, contentType, name string, content []byte) error {
	if _, _, err := mime.ParseMediaType(contentType); err != nil {
		contentType = "application/octet-stream"
	}
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": name})
	if disposition == "" || !utf8.ValidString(name) {
		disposition = "attachment"
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", disposition)
	w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	return send(w, content)
}
