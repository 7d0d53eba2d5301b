package dnsprovider

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The key, the time and the signatures are from the public test suite of Signature Version 4 ("get-vanilla",
// "get-vanilla-query-order-key-case", "post-vanilla").
func TestSignsLikeAWSTestSuite(t *testing.T) {
	t.Parallel()
	key := awsKey{id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", region: "us-east-1",
		service: "service"}
	now := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	for name, test := range map[string]struct{ method, url, signature string }{
		"get": {http.MethodGet, "https://example.amazonaws.com/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		"query": {http.MethodGet, "https://example.amazonaws.com/?Param2=value2&Param1=value1",
			"b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		"post": {http.MethodPost, "https://example.amazonaws.com/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, test.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		key.sign(r, nil, now)
		want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + test.signature
		if got := r.Header.Get("Authorization"); got != want {
			t.Errorf("%s: signed %s %s with\n%s, want\n%s", name, test.method, test.url, got, want)
		}
	}
}

func TestSignsSessionToken(t *testing.T) {
	t.Parallel()
	key := awsKey{id: "AKIDEXAMPLE", secret: "secret", session: "token-of-the-session", region: "us-east-1",
		service: "route53"}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"https://route53.amazonaws.com/2013-04-01/hostedzone?name=a%20b", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	key.sign(r, nil, time.Now())
	if got := r.Header.Get("X-Amz-Security-Token"); got != key.session {
		t.Errorf("signed with a session token, the header X-Amz-Security-Token is %q, want %q", got, key.session)
	}
	if got := r.Header.Get("Authorization"); !strings.Contains(got,
		"SignedHeaders=host;x-amz-date;x-amz-security-token,") {
		t.Errorf("signed with a session token, Authorization is %q, want the token among the signed headers", got)
	}
}
