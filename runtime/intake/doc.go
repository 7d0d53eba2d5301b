// Package intake bounds what strangers and callers make this process hold.
package intake
