package alerts

import "strings"

// browsers and systems map substrings of the User-Agent header to names; the first match wins. The header
// itself never appears in an email, because strangers control its value.
var (
	browsers = [][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"},
		{"Vivaldi", "Vivaldi"}, {"Firefox/", "Firefox"}, {"FxiOS", "Firefox"},
		{"CriOS", "Chrome"}, {"HeadlessChrome", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"}}
	systems = [][2]string{{"iPhone", "iOS"}, {"iPad", "iPadOS"}, {"Android", "Android"}, {"CrOS", "ChromeOS"},
		{"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"}}
)

// describeBrowser returns a name for the browser and its system, for example "Firefox, Linux", or "" if both
// are unknown.
func describeBrowser(agent string) string {
	agent = agent[:min(len(agent), 1000)]
	name, system := firstMatch(browsers, agent), firstMatch(systems, agent)
	switch {
	case name == "":
		return system
	case system == "":
		return name
	}
	return name + ", " + system
}

func firstMatch(marks [][2]string, agent string) string {
	for _, m := range marks {
		if strings.Contains(agent, m[0]) {
			return m[1]
		}
	}
	return ""
}
