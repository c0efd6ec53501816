import { requireSession } from '../../auth'
import type { PageServerLoad } from './$types'

export const load: PageServerLoad = async (event) => ({ session: await requireSession(event) })
