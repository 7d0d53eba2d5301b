package smtpclient

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The limits of a reply; RFC 5321, 4.5.3.1.5 requires 512 bytes per line.
const (
	maxReplyLines = 100
	maxReplyText  = 1000 // of one line, kept
)

var errProtocol = errors.New("smtp protocol error")

// reply is one reply of a server, with its lines joined.
type reply struct {
	code     int
	enhanced string // "5.1.1", or empty
	text     string // including codes, on one line
}

func (r reply) isPositive() bool { return r.code/100 == 2 }

// readReply reads all lines of one reply. The reader's buffer limits a line.
func readReply(br *bufio.Reader) (reply, error) {
	var lines []string
	for {
		line, err := readLine(br)
		if err != nil {
			return reply{}, err
		}
		lines = append(lines, line)
		if _, more, err := splitLine(line); err != nil {
			return reply{}, err
		} else if !more {
			return parseReply(lines)
		}
		if len(lines) == maxReplyLines {
			return reply{}, fmt.Errorf("%w: endless reply", errProtocol)
		}
	}
}

func readLine(br *bufio.Reader) (string, error) {
	line, err := br.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", fmt.Errorf("%w: endless line", errProtocol)
	case errors.Is(err, io.EOF):
		return "", fmt.Errorf("connection closed by the server: %w", io.ErrUnexpectedEOF)
	case err != nil:
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// splitLine returns the code of a line and whether more lines follow (RFC 5321, 4.2).
func splitLine(line string) (code int, more bool, err error) {
	if len(line) < 3 {
		return 0, false, fmt.Errorf("%w: %q is not a reply", errProtocol, cleanText(line))
	}
	for _, c := range []byte(line[:3]) {
		if c < '0' || c > '9' {
			return 0, false, fmt.Errorf("%w: %q is not a reply", errProtocol, cleanText(line))
		}
		code = code*10 + int(c-'0')
	}
	if len(line) > 3 && line[3] != ' ' && line[3] != '-' || code < 200 || code > 599 {
		return 0, false, fmt.Errorf("%w: %q is not a reply", errProtocol, cleanText(line))
	}
	return code, len(line) > 3 && line[3] == '-', nil
}

// parseReply joins the lines of one reply; all must have the same code.
func parseReply(lines []string) (reply, error) {
	var r reply
	for i, line := range lines {
		code, _, err := splitLine(line)
		if err != nil {
			return reply{}, err
		}
		if i > 0 && code != r.code {
			return reply{}, fmt.Errorf("%w: codes %d and %d in one reply", errProtocol, r.code, code)
		}
		r.code = code
		text := strings.TrimSpace(line[min(4, len(line)):])
		enhanced, rest := splitEnhanced(code, text)
		if i == 0 {
			r.enhanced, r.text = enhanced, strings.TrimSpace(line[:3]+" "+text)
			continue
		}
		// Servers repeat the enhanced code on every line (RFC 2034, 4), or put it on the last.
		if r.enhanced == "" {
			r.enhanced = enhanced
		} else if enhanced == r.enhanced {
			text = rest
		}
		if text != "" {
			r.text += " " + text
		}
	}
	r.text = cleanText(r.text)
	return r, nil
}

// splitEnhanced splits class.subject.detail off the front of a text (RFC 3463, 2), if the class matches the
// code.
func splitEnhanced(code int, text string) (enhanced, rest string) {
	word, rest, _ := strings.Cut(text, " ")
	parts := strings.Split(word, ".")
	if len(parts) != 3 || len(parts[0]) != 1 || int(parts[0][0]-'0') != code/100 {
		return "", text
	}
	for _, part := range parts[1:] {
		if len(part) < 1 || len(part) > 3 || strings.Trim(part, "0123456789") != "" {
			return "", text
		}
	}
	return word, rest
}

// cleanText makes an untrusted text fit for records and logs.
func cleanText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > maxReplyText {
		s = strings.ToValidUTF8(s[:maxReplyText], "") + "…"
	}
	return s
}
