"""Settings of the project. All but two are what any polite Scrapy project has."""

BOT_NAME = "statistics_office"
SPIDER_MODULES = ["statistics_office.spiders"]

USER_AGENT = "statistics_office (+https://www.example.org/contact)"
ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 1.0
DOWNLOAD_DELAY_JITTER = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 1

# These two let a Coati strategy choose which link is followed next.
SCHEDULER = "coati.live.scheduler.StrategyScheduler"
COATI_STRATEGY = "scent"
