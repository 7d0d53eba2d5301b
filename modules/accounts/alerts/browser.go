package alerts

import "strings"

// browsers and systems are told from the header User-Agent by the first of their marks. What a stranger
// writes there is never repeated in a mail.
var (
	browsers = [][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Vivaldi", "Vivaldi"}, {"Firefox/", "Firefox"}, {"FxiOS", "Firefox"},
		{"CriOS", "Chrome"}, {"HeadlessChrome", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"}}
	systems = [][2]string{{"iPhone", "iOS"}, {"iPad", "iPadOS"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"}}
)

// browser says in known words what a browser is, for example "Firefox, Linux"; empty when it cannot be told.
func browser(agent string) string {
	agent = agent[:min(len(agent), 1000)]
	name, system := first(browsers, agent), first(systems, agent)
	switch {
	case name == "":
		return system
	case system == "":
		return name
	}
	return name + ", " + system
}

func first(marks [][2]string, agent string) string {
	for _, m := range marks {
		if strings.Contains(agent, m[0]) {
			return m[1]
		}
	}
	return ""
}
