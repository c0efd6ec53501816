/** Errors that users and clients see. Texts are in `messages.ts`. */
import { AccessDenied, AuthError, type ErrorRow } from 'authkernel/kernel'

const errorRow = (status: number): ErrorRow => ({ page: 'error', status, visible: true })

/** There is none, or the user is no member of it. */
export class NoSuchOrganization extends AuthError {
  static override type = 'NoSuchOrganization'
  static override row: ErrorRow = errorRow(404)
}
/** A value that cannot be taken: a name, a role, an address, a domain. */
export class OrganizationInput extends AuthError {
  static override type = 'OrganizationInput'
  static override row: ErrorRow = errorRow(400)
}
/** The name of its address is another organization's. */
export class OrganizationTaken extends AuthError {
  static override type = 'OrganizationTaken'
  static override row: ErrorRow = errorRow(409)
}
/** A limit is reached: members, invitations, teams, domains, organizations. */
export class OrganizationFull extends AuthError {
  static override type = 'OrganizationFull'
  static override row: ErrorRow = errorRow(409)
}
/** The last owner cannot leave, and cannot become something else. */
export class LastOwner extends AuthError {
  static override type = 'LastOwner'
  static override row: ErrorRow = errorRow(409)
}
/** The user is a member already. */
export class AlreadyMember extends AuthError {
  static override type = 'AlreadyMember'
  static override row: ErrorRow = errorRow(409)
}
/** Used, cancelled, too old, or the inviter may not invite any more. */
export class InvitationInvalid extends AuthError {
  static override type = 'InvitationInvalid'
  static override row: ErrorRow = errorRow(400)
}
/** The invitation is for an address that the user has not proved. */
export class InvitationOther extends AuthError {
  static override type = 'InvitationOther'
  static override row: ErrorRow = errorRow(403)
}
/** The TXT record is not there. */
export class DomainUnproved extends AuthError {
  static override type = 'DomainUnproved'
  static override row: ErrorRow = errorRow(409)
}
/** Another organization has proved the domain, and its record is still there. */
export class DomainTaken extends AuthError {
  static override type = 'DomainTaken'
  static override row: ErrorRow = errorRow(409)
}
/** Others changed the organization at the same moment. Try again. */
export class OrganizationBusy extends AuthError {
  static override type = 'OrganizationBusy'
  static override row: ErrorRow = errorRow(409)
}
/** Members have the role, and it cannot be deleted. */
export class RoleInUse extends AuthError {
  static override type = 'RoleInUse'
  static override row: ErrorRow = errorRow(409)
}
/** The role of the user does not permit it. */
export class OrganizationDenied extends AccessDenied {
  static override type = 'OrganizationDenied'
}
