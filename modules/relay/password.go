package relay

import (
	"regexp"
	"strings"

	"github.com/postrider/postrider/ent/smtpcredential"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
)

// PasswordPrefix is the prefix of every password. Outside cell 0, the number of the cell follows (id.KeyTag), and
// then testTag in test mode.
const PasswordPrefix = "svs_"

const testTag = "test_"

var testPassword = regexp.MustCompile(`^` + PasswordPrefix + `(?:[1-9][0-9]{0,3}_)?` + testTag)

// newPassword returns the password of a new credential and its hash.
func newPassword(mode smtpcredential.Mode) (password secret.String, hash []byte) {
	prefix := PasswordPrefix + id.KeyTag()
	if mode == smtpcredential.ModeTest {
		prefix += testTag
	}
	password, _ = secret.NewToken(prefix)
	return password, hashPassword(password.Reveal())
}

// hashPassword returns the hash by which a password is stored and looked up. As with API keys, earlier versions of
// Postrider look up another hash for passwords of test mode: they would send real mail.
func hashPassword(password string) []byte {
	switch {
	case strings.HasPrefix(password, accounts.KeyPrefix):
		return accounts.HashSecret(password)
	case testPassword.MatchString(password):
		return secret.HashToken(testTag + password)
	}
	return secret.HashToken(password)
}
