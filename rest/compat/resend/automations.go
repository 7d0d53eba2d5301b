package resend

import "github.com/postrider/postrider/rest/compat"

func automationRoutes() []compat.Route {
	return []compat.Route{
		{Path: "/automations/{...}", Handle: compat.Refuse("Automations in the form of Resend are")},
	}
}
