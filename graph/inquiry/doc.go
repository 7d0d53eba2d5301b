// Package inquiry is what resolvers know of the request that they answer: who asks and what they may, how many
// octets of bodies may still be given, which fields are selected, and that a subscription has begun.
package inquiry
