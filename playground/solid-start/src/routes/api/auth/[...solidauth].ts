import { auth } from '../../../auth'

export const { GET, POST } = auth
