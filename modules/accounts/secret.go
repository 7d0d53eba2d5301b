package accounts

import (
	"regexp"

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
	return secret.NewToken(prefix)
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
