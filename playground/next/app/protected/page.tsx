import { auth } from '../../auth'

// proxy.ts lets members pass; a page asks again, because a proxy can be forgotten.
export default async function Protected() {
  const session = await auth()
  if (!session?.user) return null
  return (
    <>
      <h1>Only you can see this.</h1>
      <p>{session.user.email}</p>
    </>
  )
}
