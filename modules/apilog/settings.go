package apilog

import "github.com/postrider/postrider/runtime/base/setting"

// Rate is how many successful requests per second one process logs.
var Rate = setting.Declare(setting.Setting[int]{
	Name: "POSTRIDER_API_LOG_RATE", Group: "API log", Form: setting.Number(0, 1000), Default: 20,
	Help: "Successful requests per second that each process keeps in the API log, at most 5 per account. 0 keeps failures only.",
})
