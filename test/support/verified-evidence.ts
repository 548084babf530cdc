import { sealAuditEntries, verifyAudit } from '#shared/db/audit/chain.ts';
import { type Pool, sql } from '#shared/db/pool.ts';
import type { EvidenceVerification } from '#shared/evidence/verify.ts';
import { eventually } from './engine.ts';
import { evidenceText, verifyText } from './evidence.ts';

/** The verification of the evidence of a run, with the newest seal as the head. */
export async function verifiedEvidence(
  db: Pool,
  workspaceId: string,
  runId: string,
): Promise<EvidenceVerification> {
  // The API seals, too: while it does, nothing is left to seal here.
  await eventually(async () => {
    await sealAuditEntries(db, workspaceId);
    return !(await db.exists(sql.unsafe`SELECT FROM audit_unsealed`));
  });
  const { head } = await verifyAudit(db, workspaceId);
  return verifyText(await evidenceText(db, workspaceId, runId), head?.hash);
}
