package team

import (
	"context"
	"strconv"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/invitation"
	"github.com/postrider/postrider/ent/membership"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/storage/page"
)

// MemberPage returns one page of the members of an account, oldest membership first. Error: Invalid.
func (s *Service) MemberPage(ctx context.Context, accountID string, r page.Request) (page.Page[Member], error) {
	found, err := page.Read(s.cursors, page.List{Name: "members", AccountID: accountID}, r,
		func(at page.Position) ([]*ent.Membership, error) {
			query, order, beyond := s.members(accountID).WithUser(), ent.Asc(membership.FieldID), membership.IDGT
			if at.Back {
				order, beyond = ent.Desc(membership.FieldID), membership.IDLT
			}
			if at.ID != "" {
				from, err := strconv.ParseInt(at.ID, 10, 64)
				if err != nil {
					return nil, err
				}
				query.Where(beyond(from))
			}
			return query.Order(order).Limit(at.Rows()).All(ctx)
		}, func(m *ent.Membership) string { return strconv.FormatInt(m.ID, 10) })
	return page.Map(found, func(m *ent.Membership) Member { return Member{m.Edges.User, rights.Role(m.Role), m} }), err
}

// CountMembers returns the number of members of an account, up to the limit most.
func (s *Service) CountMembers(ctx context.Context, accountID string, most int) (int, error) {
	found, err := s.members(accountID).Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) members(accountID string) *ent.MembershipQuery {
	return s.db.Ent.Membership.Query().Where(membership.AccountID(accountID))
}

// InvitationPage returns one page of the open invitations of an account, newest first. Error: Invalid.
func (s *Service) InvitationPage(ctx context.Context, accountID string,
	r page.Request) (page.Page[*ent.Invitation], error) {
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "invitations", AccountID: accountID}, r, s.open(accountID),
		func(i *ent.Invitation) string { return i.ID })
}

// CountInvitations returns the number of open invitations of an account, up to the limit most.
func (s *Service) CountInvitations(ctx context.Context, accountID string, most int) (int, error) {
	found, err := s.open(accountID).Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) open(accountID string) *ent.InvitationQuery {
	return s.db.Ent.Invitation.Query().Where(invitation.AccountID(accountID), invitation.AcceptedAtIsNil(),
		invitation.RevokedAtIsNil())
}
