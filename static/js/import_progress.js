/** Follow an import on the settings page: update its progress bar, and reload the page when its state changes. */

const INTERVAL_MS = 1_500;
const bar = document.getElementById('import-progress');

async function update() {
  const response = await fetch(bar.dataset.url, { headers: { 'X-Requested-With': 'fetch' } });
  const job = response.ok ? (await response.json()).import : null;
  if (job?.state !== bar.dataset.state) return location.reload();
  if (job.total) Object.assign(bar, { max: job.total, value: job.done });
  return schedule();
}

/** An unreachable server is polled again without a message, because the import does not need this page. */
function schedule() {
  setTimeout(() => update().catch(schedule), INTERVAL_MS);
}

if (bar) schedule();
