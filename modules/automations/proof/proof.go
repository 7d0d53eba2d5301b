package proof

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// CauseHeader carries a cause.
const CauseHeader = "Postrider-Cause"

// Prover signs requests and verifies causes. It is safe for concurrent use.
type Prover struct {
	secrets [][]byte // keys of the accounts' secrets, newest master key first
	causes  [][]byte
}

// New creates a prover.
func New(box *secret.Box) *Prover {
	return &Prover{box.DeriveEach("automation webhook steps"), box.DeriveEach("automation causes")}
}

// Secret returns the secret that verifies the signatures of an account's webhook steps.
func (p *Prover) Secret(accountID string) secret.String {
	return secret.New(secretOf(p.secrets[0], accountID))
}

func secretOf(key []byte, accountID string) string {
	return webhooksig.FormatSecret(computeMAC(key, accountID))
}

// earlierSecretOf returns the secret in the form used before Standard Webhooks. It still verifies
// Service-Signature.
func earlierSecretOf(key []byte, accountID string) string {
	return webhooksig.SecretPrefix + base64.RawURLEncoding.EncodeToString(computeMAC(key, accountID))
}

// Sign sets the signature header fields for a body. The id stays the same when a request is repeated.
func (p *Prover) Sign(header http.Header, accountID, id string, at time.Time, body []byte) {
	var secrets, earlier []string
	for _, key := range p.secrets {
		secrets = append(secrets, secretOf(key, accountID))
		earlier = append(earlier, earlierSecretOf(key, accountID))
	}
	webhooksig.SetHeaders(header, id, append(secrets, earlier...), at, body)
}

// Cause returns a token that names a run of an account as the cause of a request.
func (p *Prover) Cause(accountID, runID string, depth int) string {
	text := runID + "." + strconv.Itoa(depth)
	return text + "." + signText(p.causes[0], accountID, text)
}

// Depth returns the length of the chain of runs that ends with a cause. The error names the header.
func (p *Prover) Depth(accountID, cause string) (int, error) {
	end := strings.LastIndexByte(cause, '.')
	run, depth, _ := strings.Cut(cause[:max(end, 0)], ".")
	n, err := strconv.Atoi(depth)
	if end < 0 || err != nil || n < 0 || !id.Is(id.Run, run) {
		return 0, refuseProof()
	}
	for _, key := range p.causes {
		if hmac.Equal([]byte(cause[end+1:]), []byte(signText(key, accountID, cause[:end]))) {
			return n + 1, nil
		}
	}
	return 0, refuseProof()
}

func refuseProof() error {
	return fault.InvalidField(CauseHeader,
		"must be the unchanged value from a webhook step of this account, or omitted")
}

func signText(key []byte, accountID, text string) string {
	return base64.RawURLEncoding.EncodeToString(computeMAC(key, fmt.Sprintf("%s\x00%s", accountID, text)))
}

func computeMAC(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
