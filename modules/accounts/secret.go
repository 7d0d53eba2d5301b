package accounts

import (
	"regexp"
	"strings"

	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
)

// newSecret returns the secret of a new key and its hash.
func newSecret(mode apikey.Mode) (token secret.String, hash []byte) {
	prefix := KeyPrefix + id.KeyTag()
	if mode == apikey.ModeTest {
		prefix += testTag
	}
	token, _ = secret.NewToken(prefix)
	return token, HashSecret(token.Reveal())
}

// HashSecret returns the hash by which a secret is stored and looked up. Earlier versions of Postrider know no test
// mode, and would send with a test key: the hash differs from theirs, so they refuse it.
func HashSecret(token string) []byte {
	if isTestSecret(token) {
		return secret.HashToken(testTag + token)
	}
	return secret.HashToken(token)
}

func isTestSecret(token string) bool {
	found := tags.FindStringSubmatch(token)
	return found != nil && strings.HasSuffix(found[1], testTag)
}

// tags matches the number of a cell and the mode in a secret.
var tags = regexp.MustCompile(`^` + KeyPrefix + `((?:[1-9][0-9]{0,3}_)?(?:` + testTag + `)?)`)

// startOf returns the characters of a secret that are stored and shown: as many random ones in every cell and mode.
func startOf(token string) string {
	shown := shownPrefix
	if found := tags.FindStringSubmatch(token); found != nil {
		shown += len(found[1])
	}
	return token[:shown]
}
