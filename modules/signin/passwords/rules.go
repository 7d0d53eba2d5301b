package passwords

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// Lengths of a password, in characters.
const (
	MinLength = 12
	MaxLength = 256
)

//go:embed common.txt
var commonText string

var common = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	lines := bufio.NewScanner(strings.NewReader(commonText))
	for lines.Scan() {
		words[lines.Text()] = true
	}
	return words
})

// Check validates a new password of the user with the email. The error is shown next to the field. There are
// no composition rules (NIST SP 800-63B section 3.1.1).
func Check(password, email string) error {
	length := utf8.RuneCountInString(password)
	switch {
	case !utf8.ValidString(password):
		return errors.New("must be valid UTF-8")
	case strings.ContainsRune(password, 0):
		return errors.New("cannot contain NUL")
	case length < MinLength:
		return fmt.Errorf("must have at least %d characters", MinLength)
	case length > MaxLength:
		return fmt.Errorf("must have at most %d characters", MaxLength)
	case strings.EqualFold(password, email):
		return errors.New("cannot be the email")
	case isCommon(password):
		return errors.New("is too easy to guess; choose another one")
	}
	return nil
}

// isCommon reports whether a password is on the list, repeats a short piece, or counts up or down.
func isCommon(password string) bool {
	lower := strings.ToLower(password)
	return common()[lower] || isRepetition(lower) || isSequence(lower)
}

const longestPiece = 4 // bytes

func isRepetition(s string) bool {
	for n := 1; n <= longestPiece; n++ {
		if len(s) > n && strings.HasPrefix(strings.Repeat(s[:n], len(s)/n+1), s) {
			return true
		}
	}
	return false
}

// isSequence reports whether each byte is one more, or one less, than the one before; 0 follows 9.
func isSequence(s string) bool {
	up, down := true, true
	for i := 1; i < len(s); i++ {
		up = up && (s[i] == s[i-1]+1 || s[i] == '0' && s[i-1] == '9')
		down = down && (s[i] == s[i-1]-1 || s[i] == '9' && s[i-1] == '0')
	}
	return up || down
}
