package apilog

import "github.com/postrider/postrider/runtime/base/setting"

// Rate is the number of successful requests per second that one process logs.
var Rate = setting.Declare(setting.Setting[int]{
	Name: "POSTRIDER_API_LOG_RATE", Group: "API log", Form: setting.Number(0, 1000), Default: 20,
	Help: "Successful requests per second that each process stores in the API log, at most 5 per account. 0 stores " +
		"only failures.",
})
