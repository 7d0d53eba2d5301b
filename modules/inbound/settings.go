package inbound

import (
	"errors"
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

const chapter = "Received mail"

// RspamdURL has no trailing slash. If empty, there is no rspamd.
var RspamdURL = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_RSPAMD_URL", Group: chapter, DefaultText: "none: the spam status is unknown",
	Help: "URL of the rspamd worker that checks received mail, and emails before they are sent, such as " +
		"http://127.0.0.1:11333.",
	Form: setting.Syntax[string]{Placeholder: "URL", Parse: func(text string) (string, error) {
		u, err := url.Parse(text)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" || u.RawQuery != "" ||
			u.Fragment != "" {
			return "", errors.New("must be the URL of an rspamd worker, such as http://127.0.0.1:11333")
		}
		return strings.TrimSuffix(text, "/"), nil
	}},
	Show: config.WithoutPassword,
})
