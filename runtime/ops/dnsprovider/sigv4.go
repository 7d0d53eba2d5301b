package dnsprovider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// awsKey signs requests to one Amazon Web Services service (Signature Version 4,
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
type awsKey struct {
	id, secret, session string // session is empty for permanent keys
	region, service     string
}

const (
	awsAlgorithm = "AWS4-HMAC-SHA256"
	awsTime      = "20060102T150405Z"
)

// sign sets the headers X-Amz-Date, X-Amz-Security-Token and Authorization of a request with that body. It
// signs the headers that are already set, and Host.
func (k awsKey) sign(r *http.Request, body []byte, now time.Time) {
	now = now.UTC()
	r.Header.Set("X-Amz-Date", now.Format(awsTime))
	if k.session != "" {
		r.Header.Set("X-Amz-Security-Token", k.session)
	}
	names, headers := awsHeaders(r)
	request := strings.Join([]string{r.Method, r.URL.EscapedPath(), awsQuery(r.URL.Query()), headers, names,
		awsSum(body)}, "\n")
	scope := strings.Join([]string{now.Format("20060102"), k.region, k.service, "aws4_request"}, "/")
	signed := awsMAC(k.signingKey(now),
		strings.Join([]string{awsAlgorithm, now.Format(awsTime), scope, awsSum([]byte(request))}, "\n"))
	r.Header.Set("Authorization", awsAlgorithm+" Credential="+k.id+"/"+scope+", SignedHeaders="+names+", Signature="+
		hex.EncodeToString(signed))
}

func (k awsKey) signingKey(now time.Time) []byte {
	key := []byte("AWS4" + k.secret)
	for _, part := range []string{now.Format("20060102"), k.region, k.service, "aws4_request"} {
		key = awsMAC(key, part)
	}
	return key
}

// awsHeaders returns the names of the signed headers and their canonical form.
func awsHeaders(r *http.Request) (names, canonical string) {
	values := map[string]string{"host": r.URL.Host}
	for name, list := range r.Header {
		trimmed := make([]string, 0, len(list))
		for _, value := range list {
			trimmed = append(trimmed, strings.Join(strings.Fields(value), " "))
		}
		values[strings.ToLower(name)] = strings.Join(trimmed, ",")
	}
	sorted := make([]string, 0, len(values))
	for name := range values {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	var b strings.Builder
	for _, name := range sorted {
		b.WriteString(name + ":" + values[name] + "\n")
	}
	return strings.Join(sorted, ";"), b.String()
}

// awsQuery sorts by name and value, and encodes a space as %20.
func awsQuery(query url.Values) string {
	for _, values := range query {
		slices.Sort(values)
	}
	return strings.ReplaceAll(query.Encode(), "+", "%20")
}

func awsMAC(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func awsSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
