// Tables of objects: sorting by a column, searching, and export.
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.querySelectorAll('thead th')];
  const body = table.tBodies[0];
  heads.forEach((head, column) => head.querySelector('button').addEventListener('click', () => {
    const down = head.getAttribute('aria-sort') !== 'descending';
    heads.forEach(other => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const value = row => Number(row.cells[column].dataset.value);
    const order = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return down ? y - x : x - y;
    };
    body.append(...[...body.rows].sort(order));
  }));
  const find = document.createElement('input');
  find.type = 'search';
  find.placeholder = 'Search, or: mass > 1e13';
  find.setAttribute('aria-label', 'Search the table');
  const names = heads.map(head => head.textContent.replace(/ \[.*/, '').trim());
  // A condition on a column, or a text in any cell.
  const condition = text => {
    const parts = text.match(/^\s*([^\s<>=]+)\s*(<=|>=|<|>|=)\s*(\S+)\s*$/);
    const column = parts ? names.indexOf(parts[1]) : -1;
    const limit = parts ? Number(parts[3]) : NaN;
    if (column < 0 || Number.isNaN(limit)) {
      return row => [...row.cells].some(cell => cell.textContent.includes(text.trim()));
    }
    const is = { '<': (a, b) => a < b, '>': (a, b) => a > b, '<=': (a, b) => a <= b, '>=': (a, b) => a >= b, '=': (a, b) => a === b };
    return row => is[parts[2]](Number(row.cells[column].dataset.value), limit);
  };
  const count = document.createElement('span');
  find.addEventListener('input', () => {
    const fits = condition(find.value);
    let shown = 0;
    for (const row of body.rows) {
      row.hidden = !fits(row);
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = find.value ? `${shown} of ${body.rows.length} rows` : '';
  });
  const quoted = text => /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  const save = document.createElement('button');
  save.type = 'button';
  save.textContent = 'Save as CSV';
  save.addEventListener('click', () => {
    const lines = [heads.map(head => quoted(head.textContent.trim())).join(',')];
    for (const row of body.rows) {
      if (!row.hidden) lines.push([...row.cells].map(cell => quoted(cell.dataset.value ?? cell.textContent)).join(','));
    }
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([lines.join('\n') + '\n'], { type: 'text/csv' }));
    link.download = table.id + '.csv';
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  const bar = document.createElement('p');
  bar.className = 'tools';
  bar.append(find, ' ', save, ' ', count);
  table.parentElement.before(bar);
}
