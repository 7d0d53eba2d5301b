// Package notices writes the mail of the installation itself to people: links that they asked for,
// invitations, changes of how they sign in, limits and payments. It speaks nine languages; each person reads
// the one that their browser preferred when they last signed in.
//
// It goes the way of all mail, from an account that nobody belongs to, is listed nowhere, and that
// neither caps nor the sandbox hold. A notice is stored in one transaction with what its sender notes
// of it (sending.Guard), so none is lost or doubled. Its body has a link that lets people in: it is
// deleted within an hour of its delivery.
package notices
