import type { Command } from 'commander';

const TEXT = `
The folder becomes a link to a copy beside it, which is replaced in one step: a visitor never sees half a site. Point the web
server at the folder. Nothing is copied when check finds an error.

For a host of your own, set publish.command in factory.yaml: it runs in a checked copy of the site after each landing.

Examples:
  machinery publish /srv/www/machinery
  machinery publish --site site /srv/www/machinery

Exit codes: 0 published, 1 check found errors and nothing was published, 2 the folder is not one that publish made.`;

/** \`machinery publish\`: a checked copy of the site, for a web server. */
export function register(program: Command): void {
  program
    .command('publish')
    .description('copy the site to a folder, in one step, when check finds no error in it')
    .argument('<folder>', 'where a web server looks')
    .option('--site <dir>', 'the folder that holds machines.json and machines/', 'site')
    .addHelpText('after', TEXT)
    .action(async (out: string, { site }: { site: string }) => {
      const [{ findConfig, loadConfig }, { publishSite }, { printReport, showsColour }] = await Promise.all([
        import('../../config/load.ts'),
        import('../../shift/publish.ts'),
        import('../../gates/print.ts'),
      ]);
      const vocabulary = findConfig(process.cwd()) ? (await loadConfig()).catalogue : undefined;
      const report = await publishSite({ site, out, ...(vocabulary ? { vocabulary } : {}) });
      if (!report.ok) process.stdout.write(printReport(report, { colour: showsColour(process.stdout), site }));
      process.stdout.write(report.ok ? `published ${site} to ${out}\n` : 'nothing was published\n');
      process.exitCode = report.ok ? 0 : 1;
    });
}
