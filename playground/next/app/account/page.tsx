import { requireSession } from '../../auth'
import { AddPasskey } from './add-passkey'

export default async function Account() {
  const session = await requireSession({ callbackUrl: '/account' })
  return (
    <>
      <h1>Your account</h1>
      <p>{session.user?.email}</p>
      <AddPasskey />
    </>
  )
}
