package answer

import (
	"context"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/mail/plaintext"
)

// Bodies returns the text and HTML of a forwarded email: the sender's text, followed by the original. It
// returns HTML if the sender or the email has HTML.
func Bodies(text, htmlText string, e *ent.ReceivedEmail, m *message.Message) (newText, newHTML string) {
	lines := [][2]string{{"From", e.From}, {"Date", m.Get("Date")}, {"Subject", e.Subject},
		{"To", strings.Join(e.To, ", ")}}
	if len(e.Cc) > 0 {
		lines = append(lines, [2]string{"Cc", strings.Join(e.Cc, ", ")})
	}
	var plain, rich strings.Builder
	plain.WriteString("---------- Forwarded message ----------\n")
	rich.WriteString("<div>---------- Forwarded message ----------<br>\n")
	for _, l := range lines {
		fmt.Fprintf(&plain, "%s: %s\n", l[0], l[1])
		fmt.Fprintf(&rich, "%s: %s<br>\n", l[0], html.EscapeString(l[1]))
	}
	plain.WriteString("\n")
	rich.WriteString("</div><br>\n")
	if text != "" || htmlText == "" || m.Text != "" {
		original := m.Text
		if original == "" {
			original = plaintext.FromHTML(m.HTML)
		}
		newText = appendSeparated(text, "\n\n") + plain.String() + original
	}
	if htmlText == "" && m.HTML == "" {
		return newText, ""
	}
	below := m.HTML
	if below == "" {
		below = formatPreformatted(m.Text)
	}
	if htmlText == "" && text != "" {
		htmlText = formatPreformatted(text)
	}
	return newText, appendSeparated(htmlText, "<br>\n") + rich.String() + below
}

func appendSeparated(text, by string) string {
	if text == "" {
		return ""
	}
	return text + by
}

func formatPreformatted(text string) string {
	return `<div style="white-space: pre-wrap">` + html.EscapeString(text) + "</div>"
}

// Content is the message to forward.
type Content interface {
	// Files decodes each file and writes it to the writer that to returns for its index.
	Files(to func(n int) io.Writer) error
}

// Files returns the files of a forwarded email as attachments with names and valid content types. Their bytes
// are stored in into. The send rejects blocked extensions and sizes.
func Files(ctx context.Context, content Content, m *message.Message,
	into *intake.Content) ([]sending.Attachment, error) {
	ends := make([]int64, len(m.Files)) // length of each file in into
	current := -1
	end := func(next int) { // files before next are complete
		for ; current >= 0 && current < min(next, len(ends)); current++ {
			ends[current] = into.Size()
		}
		current = next
	}
	err := content.Files(func(n int) io.Writer {
		end(n)
		if n > sending.MaxAttachments || n >= len(ends) { // the send rejects too many files
			return io.Discard
		}
		return into.Writer(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("read the files of a message: %w", err)
	}
	end(len(ends))
	octets, err := into.Bytes()
	if err != nil {
		return nil, err
	}
	files := make([]sending.Attachment, 0, len(m.Files))
	var begin int64
	for i, f := range m.Files {
		data := []byte{} // for an empty file
		if f.Size > 0 {
			data = octets[begin:ends[i]:ends[i]]
		}
		files = append(files, newAttachment(i, f, data))
		begin = ends[i]
	}
	return files, nil
}

func newAttachment(i int, f message.File, data []byte) sending.Attachment {
	out := sending.Attachment{Name: f.Filename, ContentType: f.ContentType, Data: data}
	if out.Name == "" {
		out.Name = fmt.Sprintf("file-%d%s", i+1, extensionOf(f.ContentType))
	}
	if mime.ValidateFileName(out.Name) != nil {
		out.Name = fmt.Sprintf("file-%d", i+1)
	}
	if mime.ValidateContentType(out.ContentType) != nil {
		out.ContentType = "application/octet-stream"
	}
	if id, err := mime.ParseContentID(f.ContentID); err == nil && f.Inline {
		out.ContentID = id
	}
	return out
}

// extensionOf returns the extension by which mail programs open an attached message.
func extensionOf(contentType string) string {
	if contentType == "message/rfc822" {
		return ".eml"
	}
	return ""
}
