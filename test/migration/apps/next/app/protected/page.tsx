import { auth } from '../../auth'

export default async function Protected() {
  const session = await auth()
  return <h1>For {session?.user?.name}</h1>
}
