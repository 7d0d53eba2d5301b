// Package metering reports to the payment provider how many emails an account on a metered plan has sent in
// each hour. It also reads the state of billing for operators (state.go).
//
// Package modules/accounts counts an hour once no email can be added to it. Each hour of an account with a
// metered subscription becomes a row in a work queue. A report contains the total of the hour, and an
// identifier made of account, hour and revision. The provider keeps the latest report of an hour, so a
// repetition or a crash before the report is recorded changes nothing, and a correction replaces the earlier
// total.
package metering
