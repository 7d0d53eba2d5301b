// Package passkeys stores passkeys and verifies the responses of browsers (WebAuthn Level 3). Passkeys are
// discoverable credentials with user verification, which count as both factors.
//
// Challenges are not stored: the browser returns them sealed, so requests by strangers write no rows. A used
// challenge is stored until it expires, so that it cannot be used again.
package passkeys
