package jetstream

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
)

// DefaultPort is the port of NATS.
const DefaultPort = "4222"

// ParseTarget parses nats://user:password@host:4222,host2:4222. Scheme and user apply to all servers. tls://
// requires TLS right after the servers' greeting. Its errors continue a sentence that begins with the
// setting's name, and contain no secret.
func ParseTarget(text string) (t Target, err error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || scheme != "nats" && scheme != "tls" {
		return Target{}, errors.New("must begin with nats:// or tls://; other brokers are not supported")
	}
	for i, item := range setting.List(rest) {
		item = strings.TrimPrefix(item, scheme+"://")
		u, err := url.Parse(scheme + "://" + item)
		if err != nil { // err may contain a password
			return Target{},
				fmt.Errorf("has an invalid address for server %d: use nats://host:4222,host2:4222, and encode all "+
					"characters of a password except letters and digits as %%XX", i+1)
		}
		server, err := serverOf(u)
		if err != nil {
			return Target{}, err
		}
		t.Servers = append(t.Servers, server)
		switch {
		case u.User == nil:
		case i > 0:
			return Target{},
				errors.New("has a user or token after the first server: specify it once, before the first server")
		default:
			identify(&t, u.User)
		}
	}
	if len(t.Servers) == 0 {
		return Target{}, errors.New("must contain a server, such as nats://host:4222")
	}
	return t, nil
}

// identify sets the user and password, or a token, which has no colon.
func identify(t *Target, user *url.Userinfo) {
	if password, both := user.Password(); both {
		t.User, t.Password = user.Username(), secret.New(password)
		return
	}
	t.Token = secret.New(user.Username())
}

func serverOf(u *url.URL) (string, error) {
	host, port := u.Hostname(), u.Port()
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("has more than host and port at %q", host)
	}
	if !setting.IsAddress(host) {
		name, err := setting.ParseHost(host)
		if err != nil {
			return "", err
		}
		host = name
	}
	if port == "" {
		port = DefaultPort
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port), nil
}
